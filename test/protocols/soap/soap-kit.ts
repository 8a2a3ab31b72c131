import assert from 'node:assert/strict'
import type { Adapter, AdapterReply, Inspection, UpstreamConfig } from '../../../lib/interface/adapter.ts'
import { soapFactory } from '../../../protocols/soap/soap-factory.ts'
import { elements, qnameIn, textOf, type XmlAttribute, type XmlElement } from '../../../protocols/soap/xml/tree.ts'
import { parseXml } from '../../../protocols/soap/xml/parse.ts'
import { FOREVER, jsonOf, plainCall } from '../../helpers/adapter-bench.ts'
import { answering, type Behaviour, type ScriptedUpstream, scriptedUpstream } from '../../helpers/scripted-upstream.ts'

const SOAP11 = 'http://schemas.xmlsoap.org/soap/envelope/'
export const SOAP12 = 'http://www.w3.org/2003/05/soap-envelope'
export const XML = { 'content-type': 'text/xml; charset=utf-8' }

export interface WsdlInit {
  /** Content of a schema with target namespace `urn:t`, qualified elements. */
  readonly schema?: string
  /** All of `wsdl:types`, instead of `schema`. */
  readonly types?: string
  /** Messages, port type and binding are generated for these elements: operation name → input and output element. */
  readonly operations?: Readonly<Record<string, readonly [input: string, output: string | undefined]>>
  /** Messages, port types, bindings and services, instead of `operations`. */
  readonly rest?: string
  readonly soap?: '1.1' | '1.2'
  readonly address?: string
  /** Further children of `wsdl:definitions`. */
  readonly more?: string
}

/** A WSDL with namespace `urn:t`, prefix `t`. By default one operation `echo` whose response is the element of its request. */
export function wsdlOf(init: WsdlInit): string {
  const soap = init.soap === '1.2' ? 'soap12' : 'soap'
  const schema = `<xs:schema targetNamespace="urn:t" elementFormDefault="qualified">${init.schema ?? ''}</xs:schema>`
  return `<?xml version="1.0"?>
<wsdl:definitions targetNamespace="urn:t" xmlns:t="urn:t" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"
  xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
  xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/">
  ${init.more ?? ''}<wsdl:types>${init.types ?? schema}</wsdl:types>
  ${init.rest ?? documentRest(init.operations ?? { echo: ['echo', 'echo'] }, soap, init.address ?? '')}
</wsdl:definitions>`
}

function documentRest(operations: NonNullable<WsdlInit['operations']>, soap: string, address: string): string {
  const entries = Object.entries(operations)
  const names = new Set(entries.flatMap(([, elements]) => elements.filter((one) => one !== undefined)))
  const messages = [...names].map(
    (name) => `<wsdl:message name="${name}"><wsdl:part name="body" element="t:${name}"/></wsdl:message>`
  )
  const abstract = entries.map(
    ([name, [input, output]]) =>
      `<wsdl:operation name="${name}"><wsdl:input message="t:${input}"/>${
        output === undefined ? '' : `<wsdl:output message="t:${output}"/>`
      }</wsdl:operation>`
  )
  const bound = entries.map(
    ([name, [, output]]) => `<wsdl:operation name="${name}"><${soap}:operation soapAction="urn:t#${name}"/>
      <wsdl:input><${soap}:body use="literal"/></wsdl:input>${
        output === undefined ? '' : `<wsdl:output><${soap}:body use="literal"/></wsdl:output>`
      }</wsdl:operation>`
  )
  return `${messages.join('')}<wsdl:portType name="P">${abstract.join('')}</wsdl:portType>
    <wsdl:binding name="B" type="t:P"><${soap}:binding transport="http://schemas.xmlsoap.org/soap/http"/>${bound.join('')}</wsdl:binding>
    <wsdl:service name="S"><wsdl:port name="Q" binding="t:B"><${soap}:address location="${address}"/></wsdl:port></wsdl:service>`
}

/** One operation `add(a, b)` in rpc style, with namespace `urn:rpc`. */
export function rpc(use: 'literal' | 'encoded'): string {
  return wsdlOf({
    schema:
      '<xs:complexType name="Ns"><xs:sequence><xs:element name="n" type="xs:int" form="unqualified" maxOccurs="unbounded"/></xs:sequence></xs:complexType>',
    rest: `<wsdl:message name="in"><wsdl:part name="a" type="xs:int"/><wsdl:part name="b" type="xs:int"/></wsdl:message>
      <wsdl:message name="out"><wsdl:part name="sum" type="xs:int"/><wsdl:part name="parts" type="t:Ns"/></wsdl:message>
      <wsdl:portType name="P"><wsdl:operation name="add"><wsdl:input message="t:in"/><wsdl:output message="t:out"/></wsdl:operation></wsdl:portType>
      <wsdl:binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
        <wsdl:operation name="add"><soap:operation soapAction=""/>
          <wsdl:input><soap:body use="${use}" namespace="urn:rpc"/></wsdl:input><wsdl:output><soap:body use="${use}" namespace="urn:rpc"/></wsdl:output>
        </wsdl:operation></wsdl:binding>
      <wsdl:service name="S"><wsdl:port name="Q" binding="t:B"><soap:address location="/svc"/></wsdl:port></wsdl:service>`
  })
}

export function envelope(body: string, namespace = SOAP11): string {
  return `<?xml version="1.0"?><e:Envelope xmlns:e="${namespace}"><e:Body>${body}</e:Body></e:Envelope>`
}

/** A real SOAP server on loopback with a registered and opened API. */
export interface SoapBench {
  readonly upstream: ScriptedUpstream
  readonly inspection: Inspection
  readonly adapter: Adapter
  call(body: unknown): Promise<AdapterReply>
  /** The JSON of the response. */
  json(body: unknown): Promise<unknown>
  /** The body content of the last envelope. */
  sent(): XmlElement[]
  [Symbol.asyncDispose](): Promise<void>
}

/** @param answer the response to calls; default: the received body */
export async function soapBench(
  files: string | Readonly<Record<string, string>>,
  answer: Behaviour = echoing,
  config: Partial<UpstreamConfig> = {}
): Promise<SoapBench> {
  const upstream = await scriptedUpstream(serving(typeof files === 'string' ? { '/svc?wsdl': files } : files, answer))
  const endpoint = `${upstream.url}/svc?wsdl`
  const inspection = await soapFactory.inspect({ endpoint, ...config }, FOREVER).catch(async (error: unknown) => {
    await upstream.close()
    throw error
  })
  const adapter = soapFactory.open({ endpoint, ...config }, inspection.snapshot)
  const call = (body: unknown) => adapter.call(plainCall(body), FOREVER)
  return {
    upstream,
    inspection,
    adapter,
    call,
    json: async (body) => jsonOf(await call(body)),
    sent: () => bodyOf(upstream.received.at(-1)?.body.toString() ?? ''),
    async [Symbol.asyncDispose]() {
      await adapter.close?.()
      await upstream.close()
    }
  }
}

/** Files by path and query for GET; `answer` for POST. */
export function serving(files: Readonly<Record<string, string>>, answer: Behaviour = echoing): Behaviour {
  return (response, received) => {
    if (received.method === 'POST') return answer(response, received)
    const file = Object.hasOwn(files, received.target) ? files[received.target] : undefined
    return answering(file === undefined ? 404 : 200, XML, file ?? 'nothing here')(response, received)
  }
}

const echoing: Behaviour = (response, received) => answering(200, XML, received.body)(response, received)

function bodyOf(document: string): XmlElement[] {
  const body = elements(parseXml(document)).at(-1)
  return elements(body ?? assert.fail('no body'))
}

/** The significant content of a document: names, unordered attributes, text, ordered children. Prefixes do not count. */
function infoset(element: XmlElement): unknown {
  const children = elements(element)
  return {
    name: `{${element.namespace}}${element.name}`,
    attributes: element.attributes.map((one) => `{${one.namespace}}${one.name}=${valueOf(element, one)}`).sort(),
    content: children.length > 0 ? children.map(infoset) : textOf(element)
  }
}

/** The value of `xsi:type` is a name with any prefix. */
function valueOf(element: XmlElement, { namespace, name, value }: XmlAttribute): string {
  const isType = name === 'type' && namespace === 'http://www.w3.org/2001/XMLSchema-instance'
  const qname = isType ? qnameIn(element, value) : undefined
  return qname === undefined ? value : `{${qname.namespace}}${qname.name}`
}

/** Asserts that both documents are equal. The expected one may use `t:` for `urn:t`, `xsi:` and `xsd:`. */
export function assertXml(actual: XmlElement | undefined, expected: string): void {
  const wrapped = `<w xmlns:t="urn:t" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">${expected}</w>`
  assert(actual !== undefined, 'nothing was sent')
  assert.deepEqual(infoset(actual), infoset(elements(parseXml(wrapped))[0] ?? assert.fail()))
}

/** The same JSON with the members of every object in reverse order. */
export function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, inner]) => [name, reversed(inner)])
  )
}
