import type { Addressing } from '../wsdl/addressing.ts'
import type { SchemaCompiler } from '../schema/compile.ts'
import { type AttachmentUse, type MessageModel, listing } from './message.ts'
import { ANY_TYPE, type ComplexType, type ElementUse, synthetic } from '../schema/model.ts'
import { type QName, clark, parseClark } from '../xml/names.ts'
import { once } from '../schema/once.ts'
import { partBlocks } from './own-blocks.ts'
import type { SoapVersion } from '../wsdl/wsdl.ts'

/** The facts about an operation that need no compiled types. */
interface OperationFacts {
  readonly service: string
  readonly port: string
  /** The name in the WSDL; `service.ts` makes it unique. */
  readonly name: string
  readonly version: SoapVersion
  readonly style: 'document' | 'rpc'
  /** SOAPAction of SOAP 1.1, `action` of SOAP 1.2. */
  readonly action: string
  readonly address: string | undefined
  /** The WS-Addressing fields, if the port requires it. */
  readonly addressing: Addressing | undefined
  /** True if binary content is sent as attachments. */
  readonly mtom: boolean
  readonly documentation: string | undefined
}

/** One operation of one port, ready to be called. */
export interface SoapOperation extends OperationFacts {
  readonly input: () => MessageModel
  /** Undefined for a one-way operation. */
  readonly output: (() => MessageModel) | undefined
  /** The elements of declared faults, by `{namespace}name`. */
  readonly faults: () => ReadonlyMap<string, ElementUse>
}

/** An operation as in its WSDL, not compiled: plain data for a snapshot. */
export interface OperationPlan extends OperationFacts {
  readonly input: MessagePlan
  readonly output: MessagePlan | undefined
  readonly faults: readonly PartPlan[]
}

export interface MessagePlan {
  /** The element around the parts in rpc style. */
  readonly wrapper: QName | undefined
  readonly encoded: boolean
  readonly parts: readonly PartPlan[]
  readonly headers: readonly PartPlan[]
  /** Attachments. */
  readonly attachments?: readonly AttachmentUse[]
}

/** A part by its element in the schemas; else by its type, in an element with the part's name. */
export interface PartPlan {
  /** `{namespace}name` */
  readonly element?: string
  readonly name: string
  readonly type?: string | undefined
  /** The namespace of the element around a type. */
  readonly namespace?: string
  readonly encoded?: boolean
}

/**
 * Compiles the model when it is first needed.
 * @param own names of the provider's header blocks, see `partBlocks`
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

/** Keyed by JSON name, with a `$` in front if the message has a field with that name. */
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
  if (use === undefined) throw new Error('the plan names an element that the schemas lack')
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
