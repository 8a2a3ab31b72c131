import { autocompletion, completionKeymap } from '@codemirror/autocomplete'
import type { Extension } from '@codemirror/state'
import { keymap } from '@codemirror/view'
import { graphql } from 'cm6-graphql'
import { buildSchema, type GraphQLSchema } from 'graphql'
import { useState } from 'react'
import { CodeEditor } from './code-editor.tsx'

interface GraphqlEditorProps {
  readonly label: string
  /** Of the API; null where it is not told: then nothing is completed or checked. */
  readonly sdl: string | null
  readonly value: string
  readonly onChange: (text: string) => void
}

/** A GraphQL document, with completion by the API's schema. */
export function GraphqlEditor({ sdl, ...editor }: GraphqlEditorProps) {
  const [extensions] = useState<readonly Extension[]>(() => [
    graphql(schemaOf(sdl)),
    autocompletion(),
    keymap.of([...completionKeymap])
  ])
  return <CodeEditor {...editor} extensions={extensions} />
}

/** A schema of a stranger may not hold together: then it helps nobody. */
function schemaOf(sdl: string | null): GraphQLSchema | undefined {
  if (sdl === null) return undefined
  try {
    return buildSchema(sdl)
  } catch {
    return undefined
  }
}
