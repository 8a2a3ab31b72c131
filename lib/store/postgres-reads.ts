import type { Pool, QueryResult, QueryResultRow } from 'pg'
import type { SoukError } from '../base/errors.ts'
import { isAway, storeUnavailable } from './postgres-errors.ts'

/** Statements that can be repeated without harm, outside of the transactions that write. */
export interface PostgresReads {
  /** @throws SoukError `store_unavailable` while the database is away; otherwise what `pg` says */
  query<R extends QueryResultRow>(
    query: string | { readonly name: string; readonly text: string; readonly values: readonly unknown[] },
    values?: readonly unknown[]
  ): Promise<QueryResult<R>>
}

/** `away`: why the database cannot be used, where that is known. */
export function postgresReads(pool: Pool, away: () => SoukError | undefined): PostgresReads {
  return {
    async query<R extends QueryResultRow>(...[query, values]: Parameters<PostgresReads['query']>) {
      const ask = () => pool.query<R, unknown[]>(query as string, values as unknown[])
      const known = away()
      if (known !== undefined) throw known
      try {
        return await ask()
      } catch (error) {
        if (!isAway(error)) throw error
      }
      // This one connection broke: others may be whole.
      try {
        return await ask()
      } catch (error) {
        throw isAway(error) ? (away() ?? storeUnavailable(error)) : error
      }
    }
  }
}
