import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, defaultHighlightStyle, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { useEffect, useRef } from 'react'

export interface CodeEditorProps {
  readonly label: string
  readonly value: string
  readonly onChange?: (text: string) => void
  /** Extensions for another language. Default: JSON. Later changes have no effect. */
  readonly extensions?: readonly Extension[]
}

/** Maps colours of CodeMirror's default style to colours of the console. */
const COLOURS: Readonly<Record<string, string>> = {
  '#708': 'var(--accent-strong)',
  '#219': 'var(--warn)',
  '#164': 'var(--warn)',
  '#a11': 'var(--good)',
  '#e40': 'var(--good)',
  '#00c': 'var(--accent)',
  '#085': 'var(--accent-strong)',
  '#167': 'var(--accent-strong)',
  '#940': 'var(--ink-quiet)',
  '#f00': 'var(--bad)'
}
const HIGHLIGHT = HighlightStyle.define(
  defaultHighlightStyle.specs.map(({ tag, color }) => ({
    tag,
    color: COLOURS[typeof color === 'string' ? color : ''] ?? 'inherit'
  }))
)

const LOOK = EditorView.theme({
  '&': { color: 'var(--ink)', fontSize: '0.88rem' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { padding: '0.6rem 0', caretColor: 'var(--ink)', minHeight: '7rem' },
  '.cm-line': { padding: '0 0.75rem' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-ground)' },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-ground)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', border: '1px solid var(--line)', color: 'var(--ink)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent-ground)',
    color: 'var(--accent-strong)'
  }
})

/**
 * Editor for one language. It is in a shadow tree, because only there CodeMirror sets styles by script. Elsewhere it adds a style
 * element, which the CSP forbids. The Tab key leaves the editor.
 */
export function CodeEditor({ label, value, onChange, extensions }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const told = useRef(onChange)
  const first = useRef({ value, extensions })
  useEffect(() => {
    told.current = onChange
  }, [onChange])
  const isReadOnly = onChange === undefined
  useEffect(() => {
    if (host.current === null) return undefined
    const start = first.current
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    const editor = new EditorView({
      root,
      parent: root,
      doc: start.value,
      extensions: [
        history(),
        bracketMatching(),
        closeBrackets(),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap]),
        syntaxHighlighting(HIGHLIGHT),
        LOOK,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
        EditorState.readOnly.of(isReadOnly),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) told.current?.(state.doc.toString())
        }),
        ...(start.extensions ?? [json()])
      ]
    })
    view.current = editor
    return () => {
      start.value = editor.state.doc.toString()
      editor.destroy()
    }
  }, [label, isReadOnly])
  useEffect(() => {
    const doc = view.current?.state.doc.toString()
    if (doc !== undefined && doc !== value)
      view.current?.dispatch({ changes: { from: 0, to: doc.length, insert: value } })
  }, [value])
  return <div ref={host} className="code-editor" />
}
