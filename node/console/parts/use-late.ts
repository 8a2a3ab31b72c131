import { useEffect, useState } from 'react'

/** A value some time after it last changed: not every keystroke is worth a question to the node. */
export function useLate<T>(value: T, delayMs: number): T {
  const [late, setLate] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), delayMs)
    return () => clearTimeout(timer)
  }, [value, delayMs])
  return late
}
