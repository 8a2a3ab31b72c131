import { useState } from 'react'
import { useSearchParams } from 'wouter'

/** The operation that a page shows: at first the one in the URL, as search results link to it. */
export function useChosenOperation(operations: ReadonlyArray<{ readonly name: string }>) {
  const [params] = useSearchParams()
  const asked = operations.find(({ name }) => name === params.get('operation')) ?? operations[0]
  return useState(asked?.name ?? '')
}
