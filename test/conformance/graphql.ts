/**
 * `npm run conformance:graphql -- DIR|LIST`: reads each GraphQL schema as a registration does, SDL or an introspection response, in
 * the same worker with the same limits. DIR is searched for schemas; LIST is a text file with one path a line. Prints the failures
 * and warnings of each; the last line is `{"total", "loaded", "operations", "described", …}` as JSON. A schema counts as checked if
 * a document runs against it.
 */
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parse, validate } from 'graphql'
import { descriptionWorker } from '../../protocols/description-worker/description-worker.ts'
import { schemaSteps } from '../../protocols/graphql/built-schema.ts'

const SDL = /^\s*(?:extend\s+)?(?:type|interface|union|enum|input|scalar|schema|directive)\b/m
const INTROSPECTION = /"__schema"/

function pathsIn(given: string): string[] {
  if (!statSync(given).isDirectory()) {
    const lines = readFileSync(given, 'utf8').split('\n')
    return lines.filter((line) => line.trim() !== '').map((line) => resolve(dirname(given), line.trim()))
  }
  const names = readdirSync(given, { recursive: true, encoding: 'utf8' }).toSorted()
  return names
    .filter((name) => /\.(?:json|graphqls?|gql|sdl)$/i.test(name))
    .map((name) => join(given, name))
    .filter((file) => {
      if (!statSync(file).isFile()) return false
      const text = readFileSync(file, 'utf8')
      return file.endsWith('.json') ? INTROSPECTION.test(text) : SDL.test(text)
    })
}

/** Whether documents can be checked against the stored schema, as a call does. Also the longest step of building it. */
function checked(sdl: string): { readonly isChecked: boolean; readonly stepMs: number } {
  const steps = schemaSteps(sdl, [])
  for (let stepMs = 0; ; ) {
    const startedAt = performance.now()
    const step = steps.next()
    stepMs = Math.max(stepMs, performance.now() - startedAt)
    if (step.done === true) return { isChecked: validate(step.value, parse('{ __typename }')).length === 0, stepMs }
  }
}

const given = resolve(process.argv[2] ?? '.')
const counts = {
  total: 0,
  loaded: 0,
  checked: 0,
  operations: 0,
  described: 0,
  warned: 0,
  slowestMs: 0,
  slowest: '',
  stepMsMax: 0
}
for (const file of pathsIn(given)) {
  const shown = relative(statSync(given).isDirectory() ? given : dirname(given), file)
  counts.total++
  const startedAt = performance.now()
  try {
    const read = readFileSync(file, 'utf8')
    const { snapshot, description, warnings } = await descriptionWorker.run('importSchema', { read, hidden: [] })
    counts.loaded++
    counts.operations += description.operations.length
    // An operation of GraphQL is described by the schema.
    if (description.sdl !== undefined) counts.described += description.operations.length
    if (warnings.length > 0) counts.warned++
    for (const warning of warnings) console.log(`${shown}: ${warning}`)
    const { isChecked, stepMs } = checked(snapshot)
    if (isChecked) counts.checked++
    counts.stepMsMax = Math.max(counts.stepMsMax, Math.round(stepMs))
  } catch (error) {
    console.log(`${shown}: refused: ${error instanceof Error ? error.message : String(error)}`)
  }
  const ms = Math.round(performance.now() - startedAt)
  if (ms > counts.slowestMs) Object.assign(counts, { slowestMs: ms, slowest: shown })
}
descriptionWorker.close()
console.log(JSON.stringify(counts))
