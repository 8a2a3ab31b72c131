import { useState } from 'react'
import { Icon } from '../icon.tsx'

/** Copies a text and confirms it. */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setDone(true)
    setTimeout(() => setDone(false), 2_000)
  }
  return (
    <button type="button" className="button plain icon" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      <Icon name={isDone ? 'good' : 'copy'} />
      <span className="visually-hidden" role="status">
        {isDone ? 'Copied' : ''}
      </span>
    </button>
  )
}
