import { SoukError } from '../../lib/base/errors.ts'
import { OPERATIONS_MAX } from '../../lib/base/limits/names.ts'
import { SCHEMA_PARTS_MAX } from '../../lib/base/limits/soap.ts'
import { SchemaCompiler } from './schema/compile.ts'
import type { OpenedMapping } from './mapping/mapping-fields.ts'
import type { Shape, Type } from './schema/model.ts'
import { type MessagePlan, type OperationPlan, type SoapOperation, operationOf } from './message/operation.ts'
import { readOperations } from './message/operations.ts'
import type { EnvelopeAuth } from './message/own-blocks.ts'
import { PatternBook } from './schema/pattern.ts'
import type { SchemaSet } from './schema/schema-set.ts'
import { collectSchemas } from './wsdl/schemas.ts'
import type { WsdlDocument } from './wsdl/wsdl-files.ts'
import { type Port, readWsdl, type Wsdl } from './wsdl/wsdl.ts'

/** A SOAP service with the compiled model that calls run on. */
export interface SoapService {
  /** By the consumer's name. */
  readonly operations: ReadonlyMap<string, SoapOperation>
  readonly types: SchemaCompiler
  /** The omitted and corrected parts of the WSDL. The set grows while operations are compiled. */
  readonly warnings: ReadonlySet<string>
  /** The changes of the provider's mapping, by operation name. */
  readonly mapping: OpenedMapping
  /** Written into every envelope. */
  readonly auth?: EnvelopeAuth | undefined
  /** Texts that faults must not reveal to consumers. */
  readonly secrets?: readonly string[]
}

/** The content of a WSDL before anything is compiled. */
export interface ServicePlan {
  /** By the consumer's name. */
  readonly operations: ReadonlyMap<string, OperationPlan>
  /** The operations of all ports, including ports that are not called. */
  readonly everywhere: readonly OperationPlan[]
  readonly schemas: SchemaSet
  readonly warnings: Set<string>
}

/** The parts that an operation counts for, in addition to those of its messages. */
const OPERATION_PARTS = 10

const NO_MAPPING: SoapService['mapping'] = new Map()

/** WSDL 1.1, section 3.3, and WSDL 1.1 Binding Extension for SOAP 1.2. */
const HTTP = ['http://schemas.xmlsoap.org/soap/http', 'http://www.w3.org/2003/05/soap/bindings/HTTP/', '']

/**
 * Compiles each operation when a call first needs it.
 * @param service.unchecked patterns that cannot be checked; undefined while the WSDL is being read
 * @param own names of the provider's header blocks, see `partBlocks`
 */
export function openService(
  {
    operations,
    schemas,
    warnings = new Set(),
    unchecked
  }: Pick<ServicePlan, 'operations' | 'schemas'> & {
    readonly warnings?: Set<string>
    readonly unchecked?: readonly string[]
  },
  own: readonly string[] = []
): SoapService {
  const types = new SchemaCompiler(schemas, (text) => warnings.add(text), new PatternBook(unchecked))
  const opened = new Map<string, SoapOperation>()
  for (const [name, plan] of operations) opened.set(name, operationOf(plan, types, own))
  return { operations: opened, types, warnings, mapping: NO_MAPPING }
}

/** @throws SoukError `invalid_request` with the reasons, if no operation is usable. */
export function planService(documents: readonly WsdlDocument[]): ServicePlan {
  const warnings = new Set<string>()
  const wsdl = readWsdl(documents)
  const schemas = collectSchemas(documents)
  const reasons = new Map<string, string>()
  const found = new Map<string, OperationPlan>()
  const everywhere: OperationPlan[] = []
  let parts = 0
  const ports = portsOf(wsdl, warnings)
  for (const port of ports) {
    const operations = readOperations(wsdl, port, schemas, {
      leftOut: (name, reason) => {
        reasons.set(`${port.binding.portType} ${name}`, `Operation ${name} is left out: ${reason}.`)
      },
      warn: (text) => void warnings.add(text),
      taken: (operation) => {
        parts += partsOf(operation)
        if (parts > SCHEMA_PARTS_MAX) throw tooManyParts()
      }
    })
    everywhere.push(...operations)
    const ordinals = new Map<string, number>()
    for (const operation of operations) {
      // An operation over both SOAP 1.1 and 1.2 counts once; its first port is used.
      const ordinal = (ordinals.get(operation.name) ?? 0) + 1
      ordinals.set(operation.name, ordinal)
      const key = `${port.binding.portType} ${operation.name}`
      const overload = ordinal === 1 ? key : `${key} ${ordinal}`
      if (!found.has(overload)) found.set(overload, operation)
    }
  }
  // Another port may have what one port lacks.
  for (const [key, reason] of reasons) if (!found.has(key)) warnings.add(reason)
  if (found.size === 0) {
    const isEmpty = ports.length > 0 && reasons.size === 0
    throw nothing([...(isEmpty ? ['Its bindings have no operations.'] : []), ...warnings])
  }
  return { operations: named([...found.values()], warnings), everywhere, schemas, warnings }
}

/** Compiles everything that calls may use, so that all warnings are known. */
export function compileAll({ operations, types }: SoapService): void {
  const seen = new Set<Type>()
  const waiting: Type[] = []
  for (const { input, output, faults } of operations.values()) {
    for (const message of [input(), output?.()]) {
      if (message === undefined) continue
      waiting.push(message.content)
      for (const header of message.headers.values()) waiting.push(header.type())
    }
    for (const fault of faults().values()) waiting.push(fault.type())
  }
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (seen.has(type)) continue
    seen.add(type)
    if (type.kind === 'array') waiting.push(type.item().type())
    if (type.kind !== 'complex') continue
    const shape: Shape = type.shape()
    for (const member of shape.members.values()) waiting.push(member.element.type())
    waiting.push(...types.derivedTypes(type))
  }
}

function portsOf(wsdl: Wsdl, warnings: Set<string>): Port[] {
  const ports = wsdl.ports.length > 0 ? wsdl.ports : portsOfBindings(wsdl)
  if (wsdl.bindings.size === 0) {
    throw new SoukError(
      'invalid_request',
      `The WSDL has no SOAP binding: ${instead(wsdl)}. Use the WSDL that the service itself publishes, usually at its address with ?wsdl. If the binding is in a separate file, register that file.`
    )
  }
  if (wsdl.ports.length === 0) warnings.add('The WSDL names no service address; calls go to the address of the WSDL.')
  for (const [name, binding] of wsdl.unboundPorts) {
    warnings.add(`Port ${name} is left out: its binding ${binding} is not defined (is an import missing?).`)
  }
  return ports.filter(({ binding, name }) => {
    if (HTTP.includes(binding.transport)) return true
    warnings.add(`Port ${name} is left out: its transport ${binding.transport} is not HTTP.`)
    return false
  })
}

/** Counted per operation, because many operations may share a message. */
function partsOf({ input, output, faults }: OperationPlan): number {
  const one = (message: MessagePlan | undefined) => (message?.parts.length ?? 0) + (message?.headers.length ?? 0)
  return OPERATION_PARTS + one(input) + one(output) + faults.length
}

function tooManyParts(): SoukError {
  const detail = `The operations of the WSDL, at all its ports, have more than ${SCHEMA_PARTS_MAX} parts in total.`
  return new SoukError('description_too_complex', detail)
}

function instead({ otherBindings, portTypes }: Wsdl): string {
  if (otherBindings.length > 0) return `it binds ${otherBindings.slice(0, 5).join(', ')} to other protocols only`
  return portTypes.size > 0 ? 'it describes an interface only' : 'it describes neither an interface nor a service'
}

function portsOfBindings(wsdl: Wsdl): Port[] {
  return [...wsdl.bindings.values()].map((binding) => ({
    service: '',
    name: binding.name,
    binding,
    addressing: binding.addressing,
    mtom: binding.mtom,
    address: undefined
  }))
}

function nothing(reasons: readonly string[]): SoukError {
  const shown = reasons.slice(0, 3).join(' ')
  return new SoukError('invalid_request', `The WSDL has no operation that can be called. ${shown}`.trim())
}

/** The consumer's names: the plain name if it is unique, `port.name` between ports, `name_2` for an overload. */
function named(operations: readonly OperationPlan[], warnings: Set<string>): Map<string, OperationPlan> {
  const ports = new Map<string, Set<string>>()
  for (const { name, port, service } of operations)
    ports.set(name, (ports.get(name) ?? new Set()).add(`${service}/${port}`))
  const names = new Map<string, OperationPlan>()
  for (const operation of operations) {
    const plain = (ports.get(operation.name)?.size ?? 0) > 1 ? `${operation.port}.${operation.name}` : operation.name
    let name = plain
    for (let i = 2; names.has(name); i++) name = `${plain}_${i}`
    names.set(name, operation)
  }
  if (names.size <= OPERATIONS_MAX) return names
  warnings.add(`Only the first ${OPERATIONS_MAX} of ${names.size} operations are offered.`)
  return new Map([...names].slice(0, OPERATIONS_MAX))
}
