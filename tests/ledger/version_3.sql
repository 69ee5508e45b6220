-- A ledger as discreet 0.2.0 wrote it, with its third schema.
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
        , parent_group TEXT);
INSERT INTO "discreet_budgets" VALUES(1,'visits',NULL,NULL,'epsilon','add-remove','{"epsilon": "3", "measure": "PureDP"}',3000000000000,0,1000000000000,0,0,NULL,NULL,6,'06db3ce15e750c9cec0c6b8b20dbfe28e6133a495665dab91647214f7f29357b',1794936652544322,NULL);
INSERT INTO "discreet_budgets" VALUES(2,'visits/alice',1,'visits','epsilon','add-remove','{"epsilon": "1", "measure": "PureDP"}',1000000000000,0,250000000000,0,0,NULL,NULL,0,'0000000000000000000000000000000000000000000000000000000000000000',0,NULL);
INSERT INTO "discreet_budgets" VALUES(3,'sales',NULL,NULL,'rho','add-remove','{"measure": "ZCDP", "rho": "0.5"}',500000000000,0,100000000000,0,0,'month',24322,2,'d5569cb56da9389682b90223d23c64d2ffa50152374d31c615f33c2fee20f42c',1794936652558618,NULL);
CREATE TABLE discreet_entries (
            root_id BIGINT NOT NULL REFERENCES discreet_budgets (id),
            sequence BIGINT NOT NULL,
            body TEXT NOT NULL,
            hash TEXT NOT NULL,
            PRIMARY KEY (root_id, sequence)
        );
INSERT INTO "discreet_entries" VALUES(1,1,'{"budget":"visits","dataset":"visits","details":{"accountant":"epsilon","cap":{"epsilon":"3","measure":"PureDP"},"groups":["north","south"],"limit":{"cost":"3","delta":"0"},"neighbours":"add-remove","period":null},"kind":"create","previous":"0000000000000000000000000000000000000000000000000000000000000000","sequence":1,"state":"ceead75bcd0dbbec4787b0cbc8399cd22dfc51bedeb1fc9aea4783540d32cf8f","time":"2026-11-17T17:30:52.318911Z","version":"0.2.0"}','8661cee5fc95648b189af3b2b1d99dd9a9f1a378284158eee39e15f3efcd5ca6');
INSERT INTO "discreet_entries" VALUES(1,2,'{"budget":"visits/alice","dataset":"visits","details":{"cap":{"epsilon":"1","measure":"PureDP"},"group":null,"limit":{"cost":"1","delta":"0"}},"kind":"allot","previous":"8661cee5fc95648b189af3b2b1d99dd9a9f1a378284158eee39e15f3efcd5ca6","sequence":2,"state":"562d299686a23df7a3e498701028d2f55e70ca911dd009dfaf83c0ca3bd25a46","time":"2026-11-17T17:30:52.411608Z","version":"0.2.0"}','7c6e289025230fed3298af957a7f85ef809ecafa03c26076f555853646b788f8');
INSERT INTO "discreet_entries" VALUES(3,1,'{"budget":"sales","dataset":"sales","details":{"accountant":"rho","cap":{"measure":"ZCDP","rho":"0.5"},"groups":[],"limit":{"cost":"0.5","delta":"0"},"neighbours":"add-remove","period":"month"},"kind":"create","previous":"0000000000000000000000000000000000000000000000000000000000000000","sequence":1,"state":"09e5b375cbff05af2185e6778e9283bcba6c2209664dd63068e6b7d2b2f833d7","time":"2026-11-17T17:30:52.426749Z","version":"0.2.0"}','623a6be99cec90c90c86c700e31bf48e88971e37ee705fd40d2045759020622e');
INSERT INTO "discreet_entries" VALUES(1,3,'{"budget":"visits/alice","dataset":"visits","details":{"count":1,"group":null,"guarantee":{"epsilon":"0.25","measure":"PureDP"},"mechanism":"unnamed","neighbours":"add-remove","parameters":{},"purpose":"mode of diagnosis","spent":{"cost":"0.25","delta":"0"}},"kind":"spend","previous":"7c6e289025230fed3298af957a7f85ef809ecafa03c26076f555853646b788f8","sequence":3,"state":"53bfb78d3f3deba57e13b50d1a20c9e5600dbbf44a2a8db2dd5e92caedf740d3","time":"2026-11-17T17:30:52.462143Z","version":"0.2.0"}','e99d83a68650324568ef2df3b1f400657a99bf9781898f295fd90d2bf4124fdd');
INSERT INTO "discreet_entries" VALUES(1,4,'{"budget":"visits/alice","dataset":"visits","details":{"about":3,"outcome":"error"},"kind":"failed","previous":"e99d83a68650324568ef2df3b1f400657a99bf9781898f295fd90d2bf4124fdd","sequence":4,"state":"15cda0f07e44a18001c75b662d892d0ace3b1deeb743470e3f83ae0515514bdf","time":"2026-11-17T17:30:52.496160Z","version":"0.2.0"}','56258375b88b2cee9a6507022620f0667afeec48c5b04c1230b0037e8f3add26');
INSERT INTO "discreet_entries" VALUES(1,5,'{"budget":"visits","dataset":"visits","details":{"count":1,"group":"north","guarantee":{"epsilon":"0.5","measure":"PureDP"},"mechanism":"unnamed","neighbours":"add-remove","parameters":{},"purpose":"","spent":{"cost":"0.5","delta":"0"}},"kind":"spend","previous":"56258375b88b2cee9a6507022620f0667afeec48c5b04c1230b0037e8f3add26","sequence":5,"state":"a6760c00cfd52bd58b4df4d43fd061762245455d118817edf469c5150a045e39","time":"2026-11-17T17:30:52.511186Z","version":"0.2.0"}','8b9e2a06c5163f84d5f80ba2204ffb75b18eb869b7716843ca6a263b67d59c12');
INSERT INTO "discreet_entries" VALUES(1,6,'{"budget":"visits","dataset":"visits","details":{"about":5,"release":{"answer":"flu"}},"kind":"answer","previous":"8b9e2a06c5163f84d5f80ba2204ffb75b18eb869b7716843ca6a263b67d59c12","sequence":6,"state":"398a1361b85b81bb6ff362713dbb6b556f7d8b9e9e5350c5b707e92b3cd7c6c0","time":"2026-11-17T17:30:52.544322Z","version":"0.2.0"}','06db3ce15e750c9cec0c6b8b20dbfe28e6133a495665dab91647214f7f29357b');
INSERT INTO "discreet_entries" VALUES(3,2,'{"budget":"sales","dataset":"sales","details":{"count":1,"group":null,"guarantee":{"measure":"ZCDP","rho":"0.1"},"mechanism":"unnamed","neighbours":"add-remove","parameters":{},"purpose":"","spent":{"cost":"0.1","delta":"0"}},"kind":"spend","previous":"623a6be99cec90c90c86c700e31bf48e88971e37ee705fd40d2045759020622e","sequence":2,"state":"d0f0b8b2cf5b9b94176c9f15ea83351ed265e81d0be5eef943c20cee91519826","time":"2026-11-17T17:30:52.558618Z","version":"0.2.0"}','d5569cb56da9389682b90223d23c64d2ffa50152374d31c615f33c2fee20f42c');
CREATE TABLE discreet_groups (
            budget_id BIGINT NOT NULL REFERENCES discreet_budgets (id),
            name TEXT NOT NULL,
            cost BIGINT NOT NULL CHECK (cost >= 0),
            delta BIGINT NOT NULL CHECK (delta >= 0),
            PRIMARY KEY (budget_id, name)
        );
INSERT INTO "discreet_groups" VALUES(1,'north',500000000000,0);
INSERT INTO "discreet_groups" VALUES(1,'south',0,0);
INSERT INTO "discreet_groups" VALUES(2,'north',0,0);
INSERT INTO "discreet_groups" VALUES(2,'south',0,0);
CREATE TABLE discreet_schema (version INTEGER PRIMARY KEY);
INSERT INTO "discreet_schema" VALUES(1);
INSERT INTO "discreet_schema" VALUES(2);
INSERT INTO "discreet_schema" VALUES(3);
CREATE TRIGGER discreet_no_update BEFORE UPDATE ON discreet_entries
            BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;
CREATE TRIGGER discreet_no_delete BEFORE DELETE ON discreet_entries
            BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('discreet_budgets',3);
COMMIT;
