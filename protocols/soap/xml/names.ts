/** Namespaces of the supported standards. */
export const NS = {
  xml: 'http://www.w3.org/XML/1998/namespace',
  xmlns: 'http://www.w3.org/2000/xmlns/',
  xsd: 'http://www.w3.org/2001/XMLSchema',
  xsi: 'http://www.w3.org/2001/XMLSchema-instance',
  wsdl: 'http://schemas.xmlsoap.org/wsdl/',
  soapBinding11: 'http://schemas.xmlsoap.org/wsdl/soap/',
  soapBinding12: 'http://schemas.xmlsoap.org/wsdl/soap12/',
  envelope11: 'http://schemas.xmlsoap.org/soap/envelope/',
  envelope12: 'http://www.w3.org/2003/05/soap-envelope',
  encoding11: 'http://schemas.xmlsoap.org/soap/encoding/',
  encoding12: 'http://www.w3.org/2003/05/soap-encoding',
  xop: 'http://www.w3.org/2004/08/xop/include',
  xmime: 'http://www.w3.org/2005/05/xmlmime',
  mimeBinding: 'http://schemas.xmlsoap.org/wsdl/mime/',
  apache: 'http://xml.apache.org/xml-soap',
  /** WS-I Attachments Profile 1.0, section 4.4. */
  swaRef: 'http://ws-i.org/profiles/basic/1.1/xsd'
} as const

/** Drafts of XML Schema in WSDLs before 2001, including the example in WSDL 1.1 itself. */
const FORMER: ReadonlyMap<string, string> = new Map(
  ['1999', '2000/08', '2000/10'].flatMap((year) => [
    [`http://www.w3.org/${year}/XMLSchema`, NS.xsd],
    [`http://www.w3.org/${year}/XMLSchema-instance`, NS.xsi]
  ])
)

/** The successor of a draft namespace, else the namespace itself. Both are read alike. */
export function currentNamespace(namespace: string): string {
  return FORMER.get(namespace) ?? namespace
}

/** An expanded name. An empty namespace means none. */
export interface QName {
  readonly namespace: string
  readonly name: string
}

/** James Clark's notation, `{namespace}name`: a unique string per expanded name. */
export function clark(namespace: string, name: string): string {
  return namespace === '' ? name : `{${namespace}}${name}`
}

/** Parses `{namespace}name`, or a bare name without a namespace. */
export function parseClark(text: string): QName {
  const end = text.startsWith('{') ? text.indexOf('}') : -1
  return end === -1 ? { namespace: '', name: text } : { namespace: text.slice(1, end), name: text.slice(end + 1) }
}

/** The characters of names, but the colon, within the brackets of a pattern with the flag `u`. */
export const NAME_START_CHARS = '\\p{L}_'
export const NAME_CHARS = `${NAME_START_CHARS}\\p{N}\\p{M}.\\u00b7\\-`

/** NCName (Namespaces in XML 1.0, section 4): the form of a local name. */
export const NC_NAME = `[${NAME_START_CHARS}][${NAME_CHARS}]*`
const IS_NC_NAME = new RegExp(`^${NC_NAME}$`, 'u')

export function isNcName(text: string): boolean {
  return IS_NC_NAME.test(text)
}
