-- A ledger as the first schema wrote it.
BEGIN TRANSACTION;
CREATE TABLE discreet_budgets (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            root_id BIGINT,
            parent TEXT,
            accountant TEXT NOT NULL,
            neighbours TEXT NOT NULL,
            cap TEXT NOT NULL,
            limit_cost BIGINT NOT NULL CHECK (limit_cost >= 0),
            limit_delta BIGINT NOT NULL CHECK (limit_delta >= 0),
            common_cost BIGINT NOT NULL CHECK (common_cost BETWEEN 0 AND limit_cost),
            common_delta BIGINT NOT NULL CHECK (common_delta BETWEEN 0 AND limit_delta),
            revoked BOOLEAN NOT NULL,
            period TEXT,
            period_number BIGINT,
            entries BIGINT NOT NULL,
            head TEXT NOT NULL,
            last_time BIGINT NOT NULL
        );
INSERT INTO "discreet_budgets" VALUES(1,'visits',NULL,NULL,'epsilon','add-remove','{"epsilon": "3", "measure": "PureDP"}',3000000000000,0,1500000000000,0,0,NULL,NULL,5,'89a9f2475bd4947897a0b3d4b0e798da76685d5eac0e3fbe25178d1c148b5775',1780000366000000);
INSERT INTO "discreet_budgets" VALUES(2,'visits/alice',1,'visits','epsilon','add-remove','{"epsilon": "1", "measure": "PureDP"}',1000000000000,0,250000000000,0,0,NULL,NULL,0,'0000000000000000000000000000000000000000000000000000000000000000',0);
INSERT INTO "discreet_budgets" VALUES(3,'sales',NULL,NULL,'epsilon','add-remove','{"epsilon": "1", "measure": "PureDP"}',1000000000000,0,0,0,0,'year',2026,1,'20af29722e4281ac1520fc8c5f732aff3c8914471f96fcc13a47a65d0cefedce',1780000427000000);
CREATE TABLE discreet_entries (
            root_id BIGINT NOT NULL REFERENCES discreet_budgets (id),
            sequence BIGINT NOT NULL,
            body TEXT NOT NULL,
            hash TEXT NOT NULL,
            PRIMARY KEY (root_id, sequence)
        );
INSERT INTO "discreet_entries" VALUES(1,1,'{"budget":"visits","dataset":"visits","details":{"accountant":"epsilon","cap":{"epsilon":"3","measure":"PureDP"},"groups":[],"limit":{"cost":"3","delta":"0"},"neighbours":"add-remove","period":null},"kind":"create","previous":"0000000000000000000000000000000000000000000000000000000000000000","sequence":1,"time":"2026-05-28T20:27:41.000000Z","version":"0.1.0"}','a426f79f296411c99ebfb62931b1919ad188ad9955e8f4a2e4586a780fb67be2');
INSERT INTO "discreet_entries" VALUES(1,2,'{"budget":"visits/alice","dataset":"visits","details":{"cap":{"epsilon":"1","measure":"PureDP"},"group":null,"limit":{"cost":"1","delta":"0"}},"kind":"allot","previous":"a426f79f296411c99ebfb62931b1919ad188ad9955e8f4a2e4586a780fb67be2","sequence":2,"time":"2026-05-28T20:28:42.000000Z","version":"0.1.0"}','10792b4722015654c7cfdc4a91f9c01646c655e08b07342d1db06e3a6dc478c6');
INSERT INTO "discreet_entries" VALUES(1,3,'{"budget":"visits/alice","dataset":"visits","details":{"count":1,"group":null,"guarantee":{"epsilon":"0.25","measure":"PureDP"},"mechanism":"unnamed","neighbours":"add-remove","parameters":{},"purpose":"mode of diagnosis","spent":{"cost":"0.25","delta":"0"}},"kind":"spend","previous":"10792b4722015654c7cfdc4a91f9c01646c655e08b07342d1db06e3a6dc478c6","sequence":3,"time":"2026-05-28T20:30:44.000000Z","version":"0.1.0"}','844cd29acfca3af4662abd30fbfd8e042e28109b711d4379efea0399366f8f92');
INSERT INTO "discreet_entries" VALUES(1,4,'{"budget":"visits","dataset":"visits","details":{"count":1,"group":null,"guarantee":{"epsilon":"0.5","measure":"PureDP"},"mechanism":"unnamed","neighbours":"add-remove","parameters":{},"purpose":"median age","spent":{"cost":"0.5","delta":"0"}},"kind":"spend","previous":"844cd29acfca3af4662abd30fbfd8e042e28109b711d4379efea0399366f8f92","sequence":4,"time":"2026-05-28T20:31:45.000000Z","version":"0.1.0"}','2ec0e837d71b2e59e191c38f957da6553732b9f64bcf1483dd538ea345983dac');
INSERT INTO "discreet_entries" VALUES(1,5,'{"budget":"visits/alice","dataset":"visits","details":{"about":3,"outcome":"error"},"kind":"failed","previous":"2ec0e837d71b2e59e191c38f957da6553732b9f64bcf1483dd538ea345983dac","sequence":5,"time":"2026-05-28T20:32:46.000000Z","version":"0.1.0"}','89a9f2475bd4947897a0b3d4b0e798da76685d5eac0e3fbe25178d1c148b5775');
INSERT INTO "discreet_entries" VALUES(3,1,'{"budget":"sales","dataset":"sales","details":{"accountant":"epsilon","cap":{"epsilon":"1","measure":"PureDP"},"groups":[],"limit":{"cost":"1","delta":"0"},"neighbours":"add-remove","period":"year"},"kind":"create","previous":"0000000000000000000000000000000000000000000000000000000000000000","sequence":1,"time":"2026-05-28T20:33:47.000000Z","version":"0.1.0"}','20af29722e4281ac1520fc8c5f732aff3c8914471f96fcc13a47a65d0cefedce');
CREATE TABLE discreet_schema (version INTEGER PRIMARY KEY);
INSERT INTO "discreet_schema" VALUES(1);
COMMIT;
