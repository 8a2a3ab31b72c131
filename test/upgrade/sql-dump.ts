import type { Client } from 'pg'

/**
 * The tables of the current schema with their rows as SQL, like `pg_dump --inserts`, which the tests' PostgreSQL does not
 * include.
 */
export async function dumpSql(db: Client): Promise<string> {
  const names = async (sql: string, ...values: string[]) => (await db.query<Record<string, string>>(sql, values)).rows
  const tables = await names(`SELECT relname AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY 1`)
  const [made, filled, constrained] = [[], [], []] as [string[], string[], string[]]
  for (const { name = '' } of tables) {
    const columns = await names(
      `SELECT attname AS name, format_type(atttypid, atttypmod) AS type, attnotnull::text AS required, attidentity AS identity,
         pg_get_expr(adbin, adrelid) AS otherwise,
         CASE WHEN attcollation <> typcollation THEN ' COLLATE "' || collname || '"' ELSE '' END AS collation
       FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid LEFT JOIN pg_collation ON pg_collation.oid = attcollation
         LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      name
    )
    const lines = columns.map(({ name, type, required, identity, otherwise, collation }) =>
      [
        `${name} ${type}${collation}`,
        identity === 'a' ? 'GENERATED ALWAYS AS IDENTITY' : '',
        otherwise ? `DEFAULT ${otherwise}` : '',
        required === 'true' ? 'NOT NULL' : ''
      ]
        .filter((part) => part !== '')
        .join(' ')
    )
    made.push(`CREATE TABLE ${name} (${lines.join(', ')});`)
    const selected = columns.map(({ name }) => `quote_nullable(${name}::text)`).join(` || ', ' || `)
    for (const { row } of await names(`SELECT ${selected} AS row FROM ${name} ORDER BY 1`)) {
      filled.push(`INSERT INTO ${name} OVERRIDING SYSTEM VALUE VALUES (${row});`)
    }
    for (const { name: column, identity } of columns) {
      if (identity !== 'a') continue
      const next = `(SELECT coalesce(max(${column}), 0) + 1 FROM ${name})`
      filled.push(`SELECT setval(pg_get_serial_sequence('${name}', '${column}'), ${next}, false);`)
    }
    const rules = await names(
      `SELECT conname AS name, pg_get_constraintdef(oid, true) AS rule FROM pg_constraint
       WHERE conrelid = $1::regclass AND contype IN ('p', 'u', 'c', 'f') ORDER BY contype = 'f', conname`,
      name
    )
    for (const { name: rule, rule: what = '' } of rules) {
      const line = `ALTER TABLE ${name} ADD CONSTRAINT ${rule} ${what};`
      if (what.startsWith('FOREIGN')) constrained.push(line)
      else filled.push(line)
    }
    const indexes = await names(
      `SELECT pg_get_indexdef(indexrelid, 0, true) AS line FROM pg_index WHERE indrelid = $1::regclass
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u'))`,
      name
    )
    filled.push(...indexes.map(({ line }) => `${line};`))
  }
  return [...made, ...filled, ...constrained].join('\n')
}
