import type { DescriptionView, OperationView } from '../../admin/apis/description-api.ts'
import { Text } from './code/code.tsx'
import { Empty } from './empty.tsx'
import { exampleOf, isObject, membersOf, rulesOf, type Schema, shapeOf, typeName } from './form/schema.ts'
import { Table } from './table.tsx'

/** Operations of an API with their inputs. */
export function Operations({ description: { operations, sdl } }: { readonly description: DescriptionView }) {
  if (sdl !== null) return <Text label="Schema, SDL">{sdl}</Text>
  if (operations.length === 0) {
    return <Empty title="No operation is described">The description is empty, or too large to publish.</Empty>
  }
  return (
    <div className="stack">
      {operations.map((operation, at) => (
        <Operation key={operation.name} operation={operation} isOpen={at === 0} />
      ))}
    </div>
  )
}

function Operation({ operation, isOpen }: { readonly operation: OperationView; readonly isOpen: boolean }) {
  const { name, description, input, output } = operation
  return (
    <details className="card operation" open={isOpen}>
      <summary>
        <h2>
          <code>{name}</code>
        </h2>
        {description !== undefined && <span className="quiet">{description.slice(0, 300)}</span>}
      </summary>
      <Fields title="Takes" schema={input} />
      <Fields title="Answers" schema={output} />
      {input !== undefined && isObject(input['properties']) && (
        <details>
          <summary>Example and JSON Schema</summary>
          <div className="two">
            <Text label={`Example of ${name}`}>{JSON.stringify(exampleOf(input, input), null, 2)}</Text>
            <Text label={`JSON Schema of ${name}`}>{JSON.stringify(input, null, 2)}</Text>
          </div>
        </details>
      )}
    </details>
  )
}

/** The top-level fields of a message. */
function Fields({ title, schema }: { readonly title: string; readonly schema: Schema | undefined }) {
  const shape = schema === undefined ? undefined : shapeOf(schema, schema)
  const members = shape === undefined ? undefined : membersOf(shape.schema)
  if (schema === undefined || members === undefined || members.length === 0) {
    return (
      <p>
        {title}: <span className="quiet">{schema === undefined ? 'not described' : typeName(schema, schema)}</span>
      </p>
    )
  }
  return (
    <>
      <h3>{title}</h3>
      <Table
        caption={title}
        rows={members}
        keyOf={(member) => member.name}
        columns={[
          { title: 'Field', cell: (member) => <code>{member.name}</code> },
          { title: 'Type', cell: (member) => typeName(member.schema, schema) },
          { title: 'Required', cell: ({ isRequired }) => (isRequired ? 'yes' : <span className="quiet">no</span>) },
          {
            title: 'About',
            cell: (member) => {
              const one = shapeOf(member.schema, schema).schema
              const about = typeof one['description'] === 'string' ? [one['description'].slice(0, 200)] : []
              return <span className="quiet">{[...about, ...rulesOf(one)].join(' · ')}</span>
            }
          }
        ]}
      />
    </>
  )
}
