const COLUMNS = `c.seq, p.name AS peer, c.request_id, a.name AS api, c.revision, c.outcome, c.status, c.code, c.price,
    c.charged, c.request_hash, c.at, c.owner_ms, c.upstream_ms, c.rule`
const FROM = 'FROM calls c JOIN names p ON p.id = c.peer JOIN names a ON a.id = c.api'

/** The rows that `toCallRecord` and `toLoggedCall` of both databases read. */
export const SELECT_RECORDS = `
  SELECT ${COLUMNS}, r.status AS response_status, r.headers, r.body, d.name AS debited
  ${FROM} LEFT JOIN responses r ON r.seq = c.seq
  LEFT JOIN entries e ON e.call = c.seq LEFT JOIN names d ON d.id = e.account`
/** The same of the calls that SQLite stages, where the call, its response and its entry are one row. */
export const SELECT_STAGED = `
  SELECT ${COLUMNS}, c.response_status, c.headers, c.body, d.name AS debited
  FROM staged_calls c JOIN names p ON p.id = c.peer JOIN names a ON a.id = c.api LEFT JOIN names d ON d.id = c.account`
export const SELECT_LOGGED = `SELECT ${COLUMNS} ${FROM}`
