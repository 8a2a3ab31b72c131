import { lazy, Suspense } from 'react'
import type { CodeEditorProps } from './code-editor.tsx'

const CodeEditor = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }))

/** An editor, loaded when the first one is shown. */
export function Code({
  title,
  hint,
  fault,
  ...editor
}: CodeEditorProps & {
  /** The label, where it is to be seen as well. */
  readonly title?: string | undefined
  readonly hint?: string
  readonly fault?: string | undefined
}) {
  return (
    <div className="field">
      {title !== undefined && (
        <p className="title" aria-hidden="true">
          {title}
        </p>
      )}
      <Suspense fallback={<div className="code-editor" aria-busy="true" />}>
        <CodeEditor {...editor} />
      </Suspense>
      {hint !== undefined && <p className="hint">{hint}</p>}
      {fault !== undefined && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}

/** A text as it is, to be looked at. */
export function Text({ label, children }: { readonly label: string; readonly children: string }) {
  return (
    <pre className="text" tabIndex={0} aria-label={label} role="region">
      {children}
    </pre>
  )
}
