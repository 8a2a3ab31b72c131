import { useState } from 'react'
import { Icon } from '../icon.tsx'

/** Copies a text and confirms it. */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [outcome, setOutcome] = useState<'done' | 'refused'>()
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      setOutcome('refused')
      return
    }
    setOutcome('done')
    setTimeout(() => setOutcome(undefined), 2_000)
  }
  return (
    <>
      <button type="button" className="button plain icon" aria-label={`Copy ${what}`} onClick={() => void copy()}>
        <Icon name={outcome === 'done' ? 'good' : 'copy'} />
      </button>
      <span className={outcome === 'refused' ? 'small' : 'visually-hidden'} role="status">
        {outcome === 'done' && 'Copied'}
        {outcome === 'refused' && 'The browser refused. Select the text and copy it.'}
      </span>
    </>
  )
}
