import { text, utf8 } from '../../lib/base/bytes.ts'
import { jsonText, parseJson } from '../json.ts'
import { malformed } from './graphql-refusal.ts'
import { type GraphqlRequest, bodyOf, posted } from './graphql-request.ts'

/** A request with file uploads (GraphQL multipart request specification). */
export interface Upload {
  readonly request: GraphqlRequest
  /** The body for the upstream and its content type, rebuilt with only the files that the request maps. */
  encode(query: string): Promise<{ readonly body: Uint8Array; readonly contentType: string }>
}

/** @throws SoukError `invalid_request`, GraphqlRefusal */
export async function readUpload(bytes: Uint8Array, contentType: string): Promise<Upload> {
  const fields = fieldsIn(await formIn(bytes, contentType))
  const [operations, map] = [fields.get('operations'), fields.get('map')]
  if (typeof operations !== 'string' || typeof map !== 'string') {
    throw malformed('A request with files needs the fields "operations" and "map" before them.')
  }
  const paths = pathsIn(parseJson(jsonText(utf8(map), undefined)))
  const files = new Map<string, File>()
  for (const name of paths.keys()) {
    const file = fields.get(name)
    if (!(file instanceof File)) throw malformed(`"map" names the file ${JSON.stringify(name)}, which is missing.`)
    files.set(name, file)
  }
  const request = posted(jsonText(utf8(operations), undefined))
  return {
    request: { ...request, variables: filled(request.variables, [...paths.values()].flat()) },
    async encode(query) {
      const anew = new FormData()
      // `set` compares a name with all others, which all differ here.
      anew.append('operations', text(bodyOf(query, request)))
      anew.append('map', JSON.stringify(Object.fromEntries(paths)))
      for (const [name, file] of files) anew.append(name, file, file.name)
      const encoded = new Response(anew)
      return {
        body: new Uint8Array(await encoded.arrayBuffer()),
        contentType: encoded.headers.get('content-type') ?? ''
      }
    }
  }
}

/** The first value of each name. `FormData.get` looks through all fields, so a form of thousands of files would take seconds. */
function fieldsIn(form: FormData): ReadonlyMap<string, string | File> {
  const fields = new Map<string, string | File>()
  for (const [name, value] of form) if (!fields.has(name)) fields.set(name, value)
  return fields
}

async function formIn(bytes: Uint8Array, contentType: string): Promise<FormData> {
  try {
    return await new Response(Buffer.from(bytes), { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw malformed('The body is not valid multipart/form-data.')
  }
}

function pathsIn(map: unknown): Map<string, string[]> {
  const paths = new Map<string, string[]>()
  if (typeof map !== 'object' || map === null || Array.isArray(map)) throw malformed('"map" must be a JSON object.')
  for (const [name, value] of Object.entries(map)) {
    const isList = Array.isArray(value) && value.every((path) => typeof path === 'string')
    if (!isList || name === 'operations' || name === 'map')
      throw malformed('"map" must contain a list of paths for each file.')
    paths.set(name, value)
  }
  return paths
}

/** The variables with the files at their paths, so that they can be checked. */
function filled(variables: GraphqlRequest['variables'], paths: readonly string[]): GraphqlRequest['variables'] {
  const root = { variables: structuredClone(variables) as Record<string, unknown> }
  for (const path of paths) {
    const steps = path.split('.')
    const last = steps.pop() ?? ''
    let place: unknown = root
    for (const step of steps) place = own(place, step)
    if (steps[0] !== 'variables' || own(place, last) !== null) {
      throw malformed('A path in "map" has to refer to a variable that is null.')
    }
    ;(place as Record<string, unknown>)[last] = 'file'
  }
  return root.variables
}

function own(place: unknown, step: string): unknown {
  const has = typeof place === 'object' && place !== null && Object.hasOwn(place, step)
  return has ? (place as Record<string, unknown>)[step] : undefined
}
