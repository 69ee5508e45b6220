"""From panels of lines and bars to a Vega-Lite chart."""
