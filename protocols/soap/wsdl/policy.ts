import { NS } from '../xml/names.ts'
import { type XmlElement, attribute, elements } from '../xml/tree.ts'

/** The policies of a WSDL, by id. */
export type Policies = ReadonlyMap<string, XmlElement>

const SECURITY_UTILITY = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd'
const POLICY_DEPTH_MAX = 8

/** Keyed by `wsu:Id`, `Id` or `Name`. */
export function policiesOf(definitions: readonly XmlElement[]): Policies {
  const policies = new Map<string, XmlElement>()
  for (const policy of definitions.flatMap((root) => elements(root).filter(({ name }) => name === 'Policy'))) {
    const id = attribute(policy, 'Id', SECURITY_UTILITY) ?? attribute(policy, 'Id') ?? attribute(policy, 'Name')
    if (id !== undefined) policies.set(id.trim(), policy)
  }
  return policies
}

/**
 * True if a part of a WSDL requires a feature: by an extension with `wsdl:required`, or by a non-optional assertion in a policy
 * (WS-Policy 1.2, section 4.3).
 */
export function requires(node: XmlElement, policies: Policies, isAssertion: (element: XmlElement) => boolean): boolean {
  return elements(node).some((child) => {
    if (isAssertion(child)) return isTrue(attribute(child, 'required', NS.wsdl))
    if (child.name === 'Policy') return asserts(child, isAssertion, POLICY_DEPTH_MAX)
    if (child.name !== 'PolicyReference') return false
    const policy = policies.get((attribute(child, 'URI') ?? '').trim().replace(/^#/, ''))
    return policy !== undefined && asserts(policy, isAssertion, POLICY_DEPTH_MAX)
  })
}

function asserts(policy: XmlElement, isAssertion: (element: XmlElement) => boolean, depth: number): boolean {
  const asserted = (child: XmlElement) => {
    const optional = child.attributes.some(({ name, value }) => name === 'Optional' && isTrue(value))
    if (optional) return false
    return isAssertion(child) || (depth > 0 && asserts(child, isAssertion, depth - 1))
  }
  const children = elements(policy)
  // `ExactlyOne` requires it only if every alternative does.
  return policy.name === 'ExactlyOne' ? children.length > 0 && children.every(asserted) : children.some(asserted)
}

function isTrue(text: string | undefined): boolean {
  return text !== undefined && ['true', '1'].includes(text.trim())
}
