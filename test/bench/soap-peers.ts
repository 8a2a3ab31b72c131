import { createRequire } from 'node:module'
import { soapFactory } from '../../protocols/index.ts'

/** One operation `order`, whose response has the shape of its request. */
export const ORDER_WSDL = `<?xml version="1.0"?>
<wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:t="urn:t" xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t">
<wsdl:types><xs:schema targetNamespace="urn:t" elementFormDefault="qualified">
<xs:complexType name="Item"><xs:sequence><xs:element name="sku" type="xs:string"/><xs:element name="qty" type="xs:int"/><xs:element name="price" type="xs:decimal"/><xs:element name="shipped" type="xs:dateTime"/><xs:element name="gift" type="xs:boolean" minOccurs="0"/><xs:element name="note" type="xs:string" minOccurs="0"/></xs:sequence><xs:attribute name="line" type="xs:int"/></xs:complexType>
<xs:complexType name="Order"><xs:sequence><xs:element name="id" type="xs:string"/><xs:element name="item" type="t:Item" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
<xs:element name="order" type="t:Order"/><xs:element name="orderResponse" type="t:Order"/></xs:schema></wsdl:types>
<wsdl:message name="in"><wsdl:part name="parameters" element="t:order"/></wsdl:message><wsdl:message name="out"><wsdl:part name="parameters" element="t:orderResponse"/></wsdl:message>
<wsdl:portType name="p"><wsdl:operation name="order"><wsdl:input message="t:in"/><wsdl:output message="t:out"/></wsdl:operation></wsdl:portType>
<wsdl:binding name="b" type="t:p"><soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/><wsdl:operation name="order"><soap:operation soapAction="a"/><wsdl:input><soap:body use="literal"/></wsdl:input><wsdl:output><soap:body use="literal"/></wsdl:output></wsdl:operation></wsdl:binding>
<wsdl:service name="s"><wsdl:port name="p" binding="t:b"><soap:address location="{origin}/svc"/></wsdl:port></wsdl:service></wsdl:definitions>`

export interface Order {
  readonly id: string
  readonly item: ReadonlyArray<Readonly<Record<string, string | number | boolean>>>
}

export function orderOf(items: number): Order {
  return {
    id: 'o1',
    item: Array.from({ length: items }, (_, line) => ({
      line,
      sku: `SKU-${line}`,
      qty: line % 9,
      price: 12.5 + line,
      shipped: '2026-01-02T03:04:05Z',
      gift: true,
      note: 'fish & chips'
    }))
  }
}

/** The same order for libraries that separate attributes. */
export function withAttributes({ id, item }: Order, key: 'attributes' | '$attributes'): object {
  return { id, item: item.map(({ line, ...rest }) => ({ [key]: { line }, ...rest })) }
}

/** The used parts of the libraries, whose own types contain `any`. */
export interface NodeSoap {
  createClientAsync(url: string, options?: { readonly disableCache: boolean }): Promise<NodeSoapClient>
}
export interface NodeSoapClient {
  readonly wsdl: {
    objectToDocumentXML(name: string, value: object, prefix: string, namespace: string, type: string): string
    xmlToObject(xml: string): unknown
  }
  orderAsync(order: object): Promise<unknown>
}
interface StrongSoap {
  readonly soap: {
    createClient(url: string, options: object, done: (error: Error | null, client: StrongSoapClient) => void): void
  }
}
interface StrongSoapClient {
  order(order: object, done: (error: Error | null, result: unknown) => void): void
}

export interface SoapPeers {
  readonly souk: (json: Uint8Array) => Promise<void>
  readonly nodeSoap: NodeSoapClient
  readonly strongSoap: (order: object) => Promise<void>
  close(): Promise<void>
}

/** Clients of the service at `origin`, ready to call. */
export async function connectPeers(origin: string): Promise<SoapPeers> {
  const load = createRequire(import.meta.url)
  const endpoint = `${origin}/svc?wsdl`
  const signal = new AbortController().signal
  const { snapshot } = await soapFactory.inspect({ endpoint }, signal)
  const adapter = soapFactory.open({ endpoint }, snapshot)
  const nodeSoap = await (load('soap') as NodeSoap).createClientAsync(endpoint)
  const strong = await new Promise<StrongSoapClient>((resolve, reject) => {
    const { soap } = load('strong-soap') as StrongSoap
    soap.createClient(endpoint, {}, (error, client) => (error === null ? resolve(client) : reject(error)))
  })
  const headers: Array<[string, string]> = [['content-type', 'application/json']]
  return {
    async souk(json) {
      const { success } = await adapter.call({ method: 'POST', path: '', headers, body: json }, signal)
      if (!success) throw new Error('the call failed')
    },
    nodeSoap,
    strongSoap: (order) =>
      new Promise((resolve, reject) => {
        strong.order(order, (error) => (error === null ? resolve() : reject(error)))
      }),
    close: async () => adapter.close?.()
  }
}
