/**
 * `npm run conformance:soap -- DIR`: builds the request of each case in DIR/cases.jsonl from its JSON and compares it with the
 * expected XML. Calls are checked as in production; where node-soap's placeholder `abc` is no value of its type, and only then, the
 * request is compared without checks. Then it makes requests of each operation's published JSON Schema, which must pass the
 * checks and, read as responses, fit the schema. Lists the differences; the last line is
 * `{"total", "exact", "checked", "loadFailed", …, "operations", "samples", "misfits"}` as JSON.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import * as fc from 'fast-check'
import { SoukError } from '../../lib/base/errors.ts'
import { writeEnvelope } from '../../protocols/soap/message/envelope.ts'
import { operationOf, type SoapOperation } from '../../protocols/soap/message/operation.ts'
import { openService, planService, type ServicePlan, type SoapService } from '../../protocols/soap/service.ts'
import { type LoadFile, readWsdlFiles } from '../../protocols/soap/wsdl/wsdl-files.ts'
import { parseXml } from '../../protocols/soap/xml/parse.ts'
import { type XmlElement, elements, firstElement } from '../../protocols/soap/xml/tree.ts'
import { difference } from './infoset.ts'
import { fromNodeSoap } from './node-soap-json.ts'
import { PublishedSchema } from './published-schema.ts'

interface Case {
  readonly wsdl: string
  /** Null if the WSDL gives it no name. */
  readonly service: string | null
  readonly port: string
  readonly operation: string
  readonly style: string
  readonly json: unknown
  readonly xml: string
}

/** Serves a folder of files like a server. Imports from other servers' addresses are matched by file name. */
const ORIGIN = 'http://conformance.invalid'

function loader(directory: string, wsdl: string): LoadFile {
  return async (url) => {
    const path = decodeURIComponent(url.pathname)
    const beside = join(directory, dirname(wsdl))
    const candidates = url.origin === ORIGIN ? [join(directory, path)] : []
    const names = readdirSync(beside)
    const name = names.find((one) => one.toLowerCase() === basename(path).toLowerCase())
    if (name !== undefined) candidates.push(join(beside, name))
    for (const file of candidates) {
      try {
        return { bytes: readFileSync(file) }
      } catch (error) {
        if (!(error instanceof Error && 'code' in error)) throw error
      }
    }
    throw new SoukError('invalid_request', `There is no file ${path}.`)
  }
}

interface Opened {
  readonly plan: ServicePlan
  readonly service: SoapService
}

async function openWsdl(directory: string, wsdl: string): Promise<Opened> {
  const endpoint = new URL(wsdl.split('/').map(encodeURIComponent).join('/'), `${ORIGIN}/`)
  const { documents } = await readWsdlFiles(endpoint, loader(directory, wsdl), { filesMax: 500, admits: () => true })
  const plan = planService(documents)
  return { plan, service: openService(plan) }
}

/** The problem of the request built for a case; undefined if there is none. One overload has to match. */
function judge(opened: Opened, { service, port, operation: name, json, xml }: Case): string | undefined {
  const overloads = opened.plan.everywhere
    .filter((one) => one.name === name && one.port === port && one.service === (service ?? ''))
    .map((one) => operationOf(one, opened.service.types))
  if (overloads.length === 0) return `there is no operation ${name} at port ${port}`
  const expected = parseXml(xml)
  const outcomes = overloads.map((operation) => {
    try {
      return { wrong: difference(built(opened.service, operation, json), [expected]) }
    } catch (error) {
      return { error }
    }
  })
  const [first] = outcomes
  if (outcomes.some((outcome) => 'wrong' in outcome && outcome.wrong === undefined)) return undefined
  if (first !== undefined && 'error' in first) throw first.error
  return first?.wrong
}

/** The request of a case. Without checks only if placeholders are the only problems. */
function built({ types }: SoapService, { version, input }: SoapOperation, json: unknown): XmlElement[] {
  const message = input()
  const write = (checks: boolean) => writeEnvelope(version, message, fromNodeSoap(message, json), types, { checks })
  let document: string
  try {
    document = write(true)
    checked++
  } catch (error) {
    if (!hasPlaceholdersOnly(error)) throw error
    document = write(false)
  }
  const root = parseXml(document)
  const body = firstElement(root, root.namespace, 'Body')
  return body === undefined ? [] : elements(body)
}

function hasPlaceholdersOnly(error: unknown): boolean {
  if (!(error instanceof SoukError) || error.code !== 'invalid_request') return false
  const problems = (error.members?.['problems'] ?? [{ problem: error.message }]) as ReadonlyArray<{ problem: string }>
  return problems.every(({ problem }) => problem.endsWith('got "abc".'))
}

/** Requests made of the schema of each operation. */
const SAMPLES = 5
const SEED = 1

/** Prints the first misfit of each operation. */
function sampleSchemas(wsdl: string, service: SoapService): void {
  for (const [name, operation] of service.operations) {
    operations++
    const schema = new PublishedSchema(service, name, operation)
    const problems = fc
      .sample(
        fc.gen().map((g) => schema.sample(g)),
        { numRuns: SAMPLES, seed: SEED }
      )
      .filter(({ fits }) => fits)
    samples += problems.length
    const misfit = problems.find(({ problem }) => problem !== undefined)
    if (misfit === undefined) continue
    misfits++
    console.log(`${wsdl} ${name}: ${misfit.problem?.slice(0, 1_000)}`)
  }
}

const directory = resolve(process.argv[2] ?? '.')
const services = new Map<string, Promise<Opened>>()
const byWsdl: { [wsdl: string]: { total: number; exact: number } } = {}
let total = 0
let exact = 0
/** Cases whose request passed the checks of a call. */
let checked = 0
let loadFailed = 0
let differed = 0
let refused = 0
let operations = 0
let samples = 0
let misfits = 0
for (const line of readFileSync(join(directory, 'cases.jsonl'), 'utf8').split('\n')) {
  if (line.trim() === '') continue
  const one = JSON.parse(line) as Case
  const tally = (byWsdl[one.wsdl] ??= { total: 0, exact: 0 })
  total++
  tally.total++
  const before = services.get(one.wsdl)
  const opening = before ?? openWsdl(directory, one.wsdl)
  services.set(one.wsdl, opening)
  let opened: Opened
  try {
    opened = await opening
  } catch (error) {
    loadFailed++
    if (before === undefined) console.log(`${one.wsdl}: cannot be loaded: ${String(error)}`)
    continue
  }
  try {
    const wrong = judge(opened, one)
    if (wrong === undefined) {
      exact++
      tally.exact++
    } else {
      differed++
      console.log(`${one.wsdl} ${one.operation}: ${wrong}`)
    }
  } catch (error) {
    refused++
    console.log(`${one.wsdl} ${one.operation}: refused: ${error instanceof Error ? error.message : String(error)}`)
    if (!(error instanceof SoukError)) console.log(error)
  }
}
for (const [wsdl, opening] of services) {
  const opened = await opening.catch(() => undefined)
  if (opened !== undefined) sampleSchemas(wsdl, opened.service)
}
for (const [wsdl, tally] of Object.entries(byWsdl)) {
  if (tally.exact < tally.total) console.log(`${wsdl}: ${tally.exact} of ${tally.total}`)
}
const percent = total === 0 ? 0 : Math.floor((10_000 * exact) / total) / 100
const counts = { total, exact, checked, loadFailed, differed, refused, wsdls: services.size, percent }
console.log(JSON.stringify({ ...counts, operations, samples, misfits }))
