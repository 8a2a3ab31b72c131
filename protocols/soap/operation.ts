import type { Addressing } from './addressing.ts'
import type { SchemaCompiler } from './compile.ts'
import { type AttachmentUse, type MessageModel, listing } from './message.ts'
import { ANY_TYPE, type ComplexType, type ElementUse, synthetic } from './model.ts'
import { type QName, clark, parseClark } from './names.ts'
import { once } from './once.ts'
import { partBlocks } from './own-blocks.ts'
import type { SoapVersion } from './wsdl.ts'

/** What is known of an operation without a look at its types. */
interface OperationFacts {
  readonly service: string
  readonly port: string
  /** As in the WSDL; `service.ts` gives it a name that is unique. */
  readonly name: string
  readonly version: SoapVersion
  readonly style: 'document' | 'rpc'
  /** SOAPAction of SOAP 1.1, `action` of SOAP 1.2. */
  readonly action: string
  readonly address: string | undefined
  /** What WS-Addressing wants to be told, where the port requires it. */
  readonly addressing: Addressing | undefined
  /** Binary content goes beside the envelope. */
  readonly mtom: boolean
  readonly documentation: string | undefined
}

/** One operation of one port, ready to be called. */
export interface SoapOperation extends OperationFacts {
  readonly input: () => MessageModel
  /** Undefined for a one-way operation. */
  readonly output: (() => MessageModel) | undefined
  /** Declared faults' elements, by `{namespace}name`. */
  readonly faults: () => ReadonlyMap<string, ElementUse>
}

/** An operation as its WSDL has it, with nothing compiled: plain data, which a snapshot keeps. */
export interface OperationPlan extends OperationFacts {
  readonly input: MessagePlan
  readonly output: MessagePlan | undefined
  readonly faults: readonly PartPlan[]
}

export interface MessagePlan {
  /** The element around the parts of rpc style. */
  readonly wrapper: QName | undefined
  readonly encoded: boolean
  readonly parts: readonly PartPlan[]
  readonly headers: readonly PartPlan[]
  /** Parts beside the envelope. */
  readonly attachments?: readonly AttachmentUse[]
}

/** A part by its element, which the schemas have; else by its type, in an element with the part's name. */
export interface PartPlan {
  /** `{namespace}name` */
  readonly element?: string
  readonly name: string
  readonly type?: string | undefined
  /** Of the element around a type. */
  readonly namespace?: string
  readonly encoded?: boolean
}

/**
 * Makes the model when it is first asked for.
 * @param own - names of header blocks that are the provider's, see `partBlocks`
 */
export function operationOf(plan: OperationPlan, types: SchemaCompiler, own: readonly string[] = []): SoapOperation {
  const { output } = plan
  return {
    ...plan,
    input: once(() => modelOf(plan.input, 'input', plan.style, types, own)),
    output: output && once(() => modelOf(output, 'output', plan.style, types, own)),
    faults: once(
      () => new Map(plan.faults.map((part) => useOf(part, types)).map((use) => [clark(use.namespace, use.name), use]))
    )
  }
}

function modelOf(
  plan: MessagePlan,
  label: string,
  style: 'document' | 'rpc',
  types: SchemaCompiler,
  own: readonly string[]
): MessageModel {
  const { wrapper, encoded } = plan
  types.spend(plan.parts.length + plan.headers.length)
  const uses = plan.parts.map((part) => useOf(part, types))
  const blocks = partBlocks(headersOf(plan.headers, types), own)
  const [only] = uses
  const type = style === 'document' && uses.length === 1 ? only?.type() : undefined
  if (type?.kind === 'complex' && type.shape().text === undefined) {
    return { wrapper: only, content: type, encoded, ...blocks, attachments: attachmentsOf(plan, type) }
  }
  const content = listing(uses, label)
  const around = wrapper && synthetic(wrapper.namespace, wrapper.name, () => content)
  return { wrapper: around, content, encoded, ...blocks, attachments: attachmentsOf(plan, content) }
}

/** By their names in JSON: with a `$` where the message has a field of the name. */
function attachmentsOf({ attachments = [] }: MessagePlan, content: ComplexType): ReadonlyMap<string, AttachmentUse> {
  const { members } = content.shape()
  return new Map(attachments.map((one) => [members.has(one.name) ? `$${one.name}` : one.name, one]))
}

function useOf({ element, name, type, namespace = '', encoded }: PartPlan, types: SchemaCompiler): ElementUse {
  if (element === undefined) {
    return synthetic(
      namespace,
      name,
      () => (type === undefined ? undefined : types.type(parseClark(type))) ?? ANY_TYPE,
      encoded
    )
  }
  const use = types.globalElement(element)
  if (use === undefined) throw new Error('a plan names elements that the schemas have')
  return use
}

function headersOf(parts: readonly PartPlan[], types: SchemaCompiler): ReadonlyMap<string, ElementUse> {
  const headers = new Map<string, ElementUse>()
  for (const part of parts) {
    const use = useOf(part, types)
    headers.set(headers.has(use.name) ? clark(use.namespace, use.name) : use.name, use)
  }
  return headers
}
