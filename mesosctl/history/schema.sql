-- A recording of one or several clusters.  Times are seconds since 1970, UTC (column names end in _time);
-- a NULL end means that the thing was still there when the recording ended.  A row holds from its from_time
-- up to, and without, its to_time.

CREATE TABLE clusters (
  cluster     INTEGER PRIMARY KEY,
  cluster_id  TEXT NOT NULL UNIQUE,  -- what --cluster-id chooses
  address     TEXT NOT NULL,         -- of the master as it was asked, without credentials; the file of an import
  version     TEXT,                  -- of Mesos, if known
  first_time  REAL,                  -- when it was first seen, and last
  last_time   REAL,
  clean_end   INTEGER NOT NULL,      -- 1 if the recorder ended in order
  principal   TEXT,                  -- who recorded; its view may be filtered
  clock_steps INTEGER NOT NULL,      -- how often the master's clock went backwards
  mesos_profile TEXT                 -- whose rules it follows: documents, or a minor release; absent before schema 3
);

CREATE TABLE names (                 -- every id and word that repeats, once
  name INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
);

CREATE TABLE resources (             -- every collection of resources that repeats, once
  resources INTEGER PRIMARY KEY,
  text TEXT NOT NULL,                -- as Mesos writes them: cpus:12; mem:6144
  json TEXT                          -- the documented JSON, if the text does not say everything
);

CREATE TABLE agent_rows (
  agent_row  INTEGER PRIMARY KEY,
  cluster    INTEGER NOT NULL,
  agent      INTEGER NOT NULL,       -- its id, in names
  host       TEXT NOT NULL,
  attributes TEXT NOT NULL,          -- a JSON object
  resources  INTEGER NOT NULL,       -- its total
  from_time  REAL NOT NULL,
  to_time    REAL,
  cause      TEXT,                   -- why it ended: removed, unreachable, gone, drained, changed or unknown
  import     INTEGER
);

CREATE TABLE framework_rows (
  framework_row INTEGER PRIMARY KEY,
  cluster       INTEGER NOT NULL,
  framework     INTEGER NOT NULL,    -- its id, in names
  framework_name TEXT NOT NULL,
  principal     TEXT,
  roles         TEXT NOT NULL,       -- JSON lists
  capabilities  TEXT NOT NULL,
  from_time     REAL NOT NULL,
  to_time       REAL,
  import        INTEGER
);

CREATE TABLE suppressed_rows (       -- times in which it was known whether a framework wanted offers in a role
  suppressed_row INTEGER PRIMARY KEY,
  cluster    INTEGER NOT NULL,
  framework  INTEGER NOT NULL,
  role       INTEGER NOT NULL,
  suppressed INTEGER NOT NULL,       -- 1: it wanted none
  from_time  REAL NOT NULL,
  to_time    REAL
);

CREATE TABLE task_rows (
  task_row   INTEGER PRIMARY KEY,
  cluster    INTEGER NOT NULL,
  task       TEXT NOT NULL,          -- its id
  is_executor INTEGER NOT NULL,      -- 1: the row of an executor, under its id
  run        INTEGER NOT NULL,       -- 0, or more if it held nothing in between
  framework  INTEGER NOT NULL,       -- an id, in names, like role, agent, state and reason
  role       INTEGER NOT NULL,
  agent      INTEGER,                -- NULL if it never ran, or the log does not say where
  resources  INTEGER NOT NULL,
  asked_time REAL,                   -- when it was wanted (imports)
  from_time  REAL,                   -- from when it held its resources; NULL if it never did
  to_time    REAL,
  lasts      REAL,                   -- seconds that a task that never held anything would have taken
  from_known INTEGER NOT NULL,       -- 0: it began at that time or before (from_time), ended at that time or before
  to_known   INTEGER NOT NULL,       --    (to_time): nobody saw it happen
  state      INTEGER,                -- the last one, as Mesos names it: TASK_FINISHED
  reason     INTEGER,
  import     INTEGER
);
CREATE INDEX task_rows_by_time ON task_rows (from_time);
CREATE INDEX task_rows_open ON task_rows (cluster) WHERE to_time IS NULL AND from_time IS NOT NULL;

CREATE TABLE settings (
  setting   INTEGER PRIMARY KEY,
  cluster   INTEGER NOT NULL,
  kind      TEXT NOT NULL,           -- quota, weight, reservation (of an agent), rate limits, lending (from version 2 on),
                                     --    out of service (of an agent, from version 3 on)
  name      TEXT NOT NULL,           -- a role, the id of an agent, or nothing
  value     TEXT NOT NULL,           -- the documented JSON
  from_time REAL NOT NULL,
  to_time   REAL
);

CREATE TABLE runs (                  -- allocation runs of a master that tells them
  cluster INTEGER NOT NULL,
  time    REAL NOT NULL,
  PRIMARY KEY (cluster, time)
) WITHOUT ROWID;

CREATE TABLE gaps (                  -- times in which nothing was seen
  cluster   INTEGER NOT NULL,
  from_time REAL NOT NULL,
  to_time   REAL NOT NULL
);

CREATE TABLE imports (
  import     INTEGER PRIMARY KEY,
  cluster    INTEGER NOT NULL,
  file       TEXT NOT NULL,
  format     TEXT NOT NULL,
  rows       INTEGER NOT NULL,       -- every row of the file is used, or skipped for a cause
  used       INTEGER NOT NULL,
  skipped    TEXT NOT NULL           -- JSON: {"cause": {"rows": 2, "line": 17, "column": "deletion_time"}, …}
);

-- The same with names instead of numbers, for people.

CREATE VIEW agents AS
SELECT cluster_id, id.text AS agent_id, host, attributes, r.text AS resources, from_time, to_time, cause
FROM agent_rows JOIN clusters USING (cluster) JOIN names id ON id.name = agent JOIN resources r USING (resources);

CREATE VIEW frameworks AS
SELECT cluster_id, id.text AS framework_id, framework_name AS name, f.principal, roles, capabilities, from_time, to_time
FROM framework_rows f JOIN clusters USING (cluster) JOIN names id ON id.name = framework;

CREATE VIEW suppressed AS
SELECT cluster_id, id.text AS framework_id, r.text AS role, suppressed, from_time, to_time
FROM suppressed_rows JOIN clusters USING (cluster) JOIN names id ON id.name = framework JOIN names r ON r.name = role;

CREATE VIEW tasks AS
SELECT cluster_id, f.text AS framework_id, task AS task_id, is_executor, run, r.text AS role, a.text AS agent_id,
       held.text AS resources, asked_time, from_time, to_time, lasts, from_known, to_known,
       s.text AS state, why.text AS reason
FROM task_rows JOIN clusters USING (cluster)
JOIN names f ON f.name = framework JOIN names r ON r.name = role JOIN resources held USING (resources)
LEFT JOIN names a ON a.name = agent LEFT JOIN names s ON s.name = state LEFT JOIN names why ON why.name = reason;
