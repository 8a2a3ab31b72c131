import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorNotice } from './error-notice.tsx'

interface LoadedProps<T> {
  readonly query: UseQueryResult<T, Error> | UseInfiniteQueryResult<T, Error>
  readonly children: (data: T) => ReactNode
}

/** Shows a query's data, or a loading state, or its error. Old data stay visible during a refetch. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  const { data, error, isPending, refetch } = query
  if (data !== undefined) {
    return (
      <>
        {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} isStale />}
        {children(data)}
      </>
    )
  }
  if (isPending) return <Loading />
  return error === null ? null : <ErrorNotice error={error} onRetry={() => void refetch()} />
}

export function Loading() {
  return (
    <div className="loading" role="status">
      <p className="visually-hidden">Loading</p>
      <span />
      <span />
      <span />
    </div>
  )
}
