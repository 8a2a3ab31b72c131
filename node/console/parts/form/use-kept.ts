import { useState } from 'react'
import { readJson } from '../json.ts'

/**
 * State that outlives its page, in this tab: what was typed is there again after a link, Back, or a reload. Not for secrets.
 * @param key - names the form and its subject
 */
export function useKept<T>(key: string): readonly [T | undefined, (value: T | undefined) => void] {
  const item = `souk-typed ${key}`
  const [value, setValue] = useState(() => read(item) as T | undefined)
  const keep = (typed: T | undefined) => {
    setValue(typed)
    try {
      if (typed === undefined) sessionStorage.removeItem(item)
      else sessionStorage.setItem(item, JSON.stringify(typed))
    } catch {
      // The browser's storage is full: the page keeps it while it is open.
    }
  }
  return [value, keep]
}

function read(item: string): unknown {
  try {
    return readJson(sessionStorage.getItem(item) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}
