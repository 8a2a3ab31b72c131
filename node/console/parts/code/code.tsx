import { lazy, Suspense } from 'react'
import type { CodeEditorProps } from './code-editor.tsx'

const CodeEditor = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }))

/** The editor, loaded on first use. */
export function Code({
  title,
  hint,
  fault,
  ...editor
}: CodeEditorProps & {
  /** Visible label. If absent, only screen readers get `label`. */
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

/** Read-only text. */
export function Text({ label, children }: { readonly label: string; readonly children: string }) {
  return (
    <pre className="text" tabIndex={0} aria-label={label} role="region">
      {children}
    </pre>
  )
}
