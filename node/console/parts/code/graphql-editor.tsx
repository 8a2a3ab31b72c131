import { autocompletion, completionKeymap } from '@codemirror/autocomplete'
import type { Extension } from '@codemirror/state'
import { keymap } from '@codemirror/view'
import { graphql } from 'cm6-graphql'
import { buildSchema, type GraphQLSchema } from 'graphql'
import { useState } from 'react'
import { CodeEditor } from './code-editor.tsx'

interface GraphqlEditorProps {
  readonly label: string
  /** Schema of the API. If null, the editor neither completes nor checks. */
  readonly sdl: string | null
  readonly value: string
  readonly onChange: (text: string) => void
}

/** GraphQL editor with completion by the API's schema. */
export function GraphqlEditor({ sdl, ...editor }: GraphqlEditorProps) {
  const [extensions] = useState<readonly Extension[]>(() => [
    graphql(schemaOf(sdl)),
    autocompletion(),
    keymap.of([...completionKeymap])
  ])
  return <CodeEditor {...editor} extensions={extensions} />
}

/** A schema that cannot be built is ignored. Faults that leave it usable are the provider's affair. */
function schemaOf(sdl: string | null): GraphQLSchema | undefined {
  if (sdl === null) return undefined
  try {
    return buildSchema(sdl, { assumeValid: true })
  } catch {
    return undefined
  }
}
