import { useEffect, useState } from 'react'
import type { DescriptionSource, ProtocolDescriptor } from '../../../../protocols/descriptor.ts'
import { protocolDescriptors, type ProtocolName } from '../../../../protocols/protocol-descriptors.ts'
import type { RegisterInput } from '../../../admin/api.ts'
import type { UpstreamCheckInput } from '../../../admin/apis/description-api.ts'

export type Source = DescriptionSource['from']

/** Draft stored in this browser until publication. It contains no credentials or files. */
export interface Draft {
  readonly protocol: ProtocolName
  readonly source: Source
  readonly endpoint: string
  /** REST: URL of the OpenAPI document. */
  readonly openapi: string
  /** REST without an OpenAPI document. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly isExplicit: boolean
  readonly name: string
  readonly description: string
  readonly tags: string
  readonly price: string
}

const EMPTY: Draft = {
  protocol: 'REST',
  source: 'url',
  endpoint: '',
  openapi: '',
  method: 'POST',
  isExplicit: false,
  name: '',
  description: '',
  tags: '',
  price: '0.001'
}
const KEY = 'souk-draft'

/** Files chosen by the user. */
export interface Files {
  readonly openapi?: { readonly name: string; readonly text: string }
  readonly graphql?: { readonly name: string; readonly text: string }
  readonly wsdl?: { readonly name: string; readonly input: NonNullable<RegisterInput['wsdl']> }
}

export type Auth = NonNullable<RegisterInput['auth']>

/** Changes that a check uses before they are part of the page's state. */
export interface Wish {
  readonly auth?: Auth | undefined
  readonly change?: Partial<Draft>
}

/** What a check of the API needs. */
type Checked = Omit<Making, 'isIncomplete'>

/** All inputs of a registration. */
export interface Making {
  readonly draft: Draft
  readonly files: Files
  /** Undefined without credentials. */
  readonly auth: Auth | undefined
  /** SOAP: the API may be published although imports of its WSDL are missing. */
  readonly isIncomplete: boolean
}

export function useDraft(): {
  readonly draft: Draft
  readonly set: (change: Partial<Draft>) => void
  readonly forget: () => void
} {
  const [draft, setDraft] = useState<Draft>(read)
  useEffect(() => localStorage.setItem(KEY, JSON.stringify(draft)), [draft])
  return {
    draft,
    set: (change) => setDraft((before) => ({ ...before, ...change })),
    forget: () => setDraft(EMPTY)
  }
}

function read(): Draft {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    return { ...EMPTY, ...(typeof kept === 'object' ? kept : {}) }
  } catch {
    return EMPTY
  }
}

/** The chosen source of the description. For a draft with an unknown source, the first one. */
export function sourceOf({ protocol, source }: Pick<Draft, 'protocol' | 'source'>): DescriptionSource {
  const { sources } = formOf(protocol)
  return sources.find(({ from }) => from === source) ?? sources[0]
}

export function formOf(protocol: string): ProtocolDescriptor {
  return protocolDescriptors.find(({ name }) => name === protocol) ?? protocolDescriptors[0]
}

export function upstreamOf({ draft, files, auth }: Checked): UpstreamCheckInput {
  const { protocol, source, endpoint, openapi, method, isExplicit } = draft
  const { document, file } = sourceOf(draft)
  return {
    protocol,
    endpoint,
    ...(auth === undefined ? {} : { auth }),
    ...(document === undefined ? {} : { openapi: { url: openapi } }),
    ...(file === undefined ? {} : fileInput(file.member, files)),
    ...(source === 'hand' ? { method, ...(isExplicit ? { explicit: true } : {}) } : {})
  }
}

function fileInput(
  member: keyof Files,
  { openapi, wsdl, graphql }: Files
): Pick<UpstreamCheckInput, 'openapi' | 'wsdl' | 'graphql'> {
  if (member === 'openapi') return openapi === undefined ? {} : { openapi: { text: openapi.text } }
  if (member === 'wsdl') return wsdl === undefined ? {} : { wsdl: wsdl.input }
  return graphql === undefined ? {} : { graphql: { schema: graphql.text } }
}

export function registrationOf(making: Making): RegisterInput {
  const { name, price, description } = making.draft
  const upstream = upstreamOf(making)
  const wsdl = making.isIncomplete ? { wsdl: { ...upstream.wsdl, incomplete: true } } : {}
  return { ...upstream, ...wsdl, name, price, description, tags: tagsOf(making.draft) }
}

export function tagsOf({ tags }: Pick<Draft, 'tags'>): string[] {
  return tags
    .split(',')
    .map((tag) => tag.trim().toLowerCase())
    .filter((tag) => tag !== '')
}

/** Suggests an API name from the endpoint. */
export function nameFor(endpoint: string): string {
  const url = URL.parse(endpoint)
  const segments = (url?.pathname ?? '').split('/').filter((part) => part !== '')
  const last = segments.at(-1)?.replace(/\.\w+$/, '') ?? ''
  const text = last === '' || /^(?:api|graphql|v\d+)$/i.test(last) ? (url?.hostname ?? '') : last
  const slug = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return slug.replace(/^-+/, '').slice(0, 63).replace(/-+$/, '')
}
