import type { Pool, QueryResult, QueryResultRow } from 'pg'
import type { SoukError } from '../../base/errors.ts'
import { isAway, isLostRace, storeUnavailable } from './errors.ts'
import { rejectionOf } from './rejection.ts'

/** Repeatable statements, outside of the write transactions. */
export interface PostgresReads {
  /** @throws SoukError `store_unavailable` while the database is away; otherwise the error of `pg` */
  query<R extends QueryResultRow>(
    query: string | { readonly name: string; readonly text: string; readonly values: readonly unknown[] },
    values?: readonly unknown[]
  ): Promise<QueryResult<R>>
}

/** @param away why the database is unavailable, if known */
export function postgresReads(pool: Pool, away: () => SoukError | undefined): PostgresReads {
  return {
    async query<R extends QueryResultRow>(...[query, values]: Parameters<PostgresReads['query']>) {
      const ask = () => pool.query<R, unknown[]>(query as string, values as unknown[])
      const known = away()
      if (known !== undefined) throw known
      try {
        return await ask()
      } catch (error) {
        if (!isUnreached(error) && !isLostRace(error)) throw error
      }
      // Only this connection broke, where another one may work, or this statement met another.
      try {
        return await ask()
      } catch (error) {
        throw isUnreached(error) ? (away() ?? storeUnavailable(error)) : error
      }
    }
  }
}

/** Also if the administrator has changed the password or the certificate, which new connections of the pool notice first. */
function isUnreached(error: unknown): boolean {
  return isAway(error) || rejectionOf(error) !== undefined
}
