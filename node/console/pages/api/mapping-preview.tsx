import type { OperationView } from '../../../admin/apis/description-api.ts'
import { Text } from '../../parts/code/code.tsx'
import { exampleOf, type Schema } from '../../parts/form/schema.ts'
import { asSent, type MappingDocument, type Side } from './mapping-document.ts'

interface PreviewProps {
  readonly operation: string
  readonly side: Side
  /** One preview by the WSDL alone, one with the current mapping. */
  readonly plain: OperationView | undefined
  readonly mapped: OperationView | undefined
  readonly document: MappingDocument
}

/** Example of a request before and after the mapping. */
export function MappingPreview({ operation, side, plain, mapped, document }: PreviewProps) {
  const theirs = mapped?.[side]
  const yours = plain?.[side]
  if (theirs === undefined || yours === undefined)
    return <p className="quiet">There is no schema, so there is no example.</p>
  const rules = document.operations[operation]?.input ?? {}
  const example = exampleOf(yours, yours)
  const isInput = side === 'input'
  return (
    <div className="two">
      <Example
        title={isInput ? 'A consumer sends' : 'A consumer gets'}
        value={exampleOf(theirs, theirs)}
        schema={theirs}
      />
      <Example
        title={isInput ? 'Your service is sent, in the WSDL’s names' : 'Your service answers, in the WSDL’s names'}
        value={isInput ? asSent(example, rules) : example}
      />
    </div>
  )
}

function Example({
  title,
  value,
  schema
}: {
  readonly title: string
  readonly value: unknown
  readonly schema?: Schema
}) {
  return (
    <section className="stack">
      <h2>{title}</h2>
      <Text label={title}>{JSON.stringify(value, null, 2)}</Text>
      {schema !== undefined && (
        <details>
          <summary>JSON Schema</summary>
          <Text label={`JSON Schema: ${title}`}>{JSON.stringify(schema, null, 2)}</Text>
        </details>
      )}
    </section>
  )
}
