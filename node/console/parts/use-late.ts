import { useEffect, useState } from 'react'

/** Debounces a value, so that not every keystroke sends a request. */
export function useLate<T>(value: T, delayMs: number): T {
  const [late, setLate] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), delayMs)
    return () => clearTimeout(timer)
  }, [value, delayMs])
  return late
}
