import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { MarketListingView } from '../../../admin/market/market-api.ts'
import { queries } from '../../admin/queries.ts'
import type { DescriptionView } from '../../../admin/apis/description-api.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { OperationChoice } from '../../parts/operation-choice.tsx'
import { Choice } from '../../parts/form/choice.tsx'
import { Text } from '../../parts/code/code.tsx'
import { Copy } from '../../parts/code/copy.tsx'
import { Notice } from '../../parts/notice.tsx'
import type { Json } from '../../parts/form/schema.ts'
import { Try } from '../../parts/try.tsx'
import { useChosenOperation } from './chosen-operation.ts'
import { curlOf, pythonOf, typescriptOf } from './code.ts'

/** Calls the API from the console, and shows equivalent code. */
export function TryIt({ listing }: { readonly listing: MarketListingView }) {
  const { protocol, methods, sdl, is_large: isLarge } = listing
  return (
    <section className="card">
      <h2>Try it</h2>
      {isLarge && sdl === null && protocol !== 'GraphQL' ? (
        <LargeTry listing={listing} />
      ) : (
        <Described listing={listing} description={{ operations: methods, sdl }} />
      )}
    </section>
  )
}

interface DescribedProps {
  readonly listing: MarketListingView
  readonly description: DescriptionView
}

function Described({ listing: { id, protocol, price }, description }: DescribedProps) {
  return (
    <Try api={id} protocol={protocol} description={description} price={price}>
      {(body, isStream) => <Code api={id} body={body} isStream={isStream} />}
    </Try>
  )
}

/** Reads the schemas of the chosen operation only. */
function LargeTry({ listing }: { readonly listing: MarketListingView }) {
  const [name, setName] = useChosenOperation(listing.methods)
  const operation = useQuery(queries.listedOperation(listing.id, name))
  return (
    <>
      <OperationChoice operations={listing.methods} value={name} onChange={setName} />
      <Loaded query={operation}>
        {(view) => <Described key={name} listing={listing} description={{ operations: [view], sdl: null }} />}
      </Loaded>
    </>
  )
}

const LANGUAGES = [
  { value: 'curl', name: 'curl', write: curlOf },
  { value: 'TypeScript', name: 'TypeScript', write: typescriptOf },
  { value: 'Python', name: 'Python', write: pythonOf }
] as const

interface CodeProps {
  readonly api: string
  readonly body: Json
  readonly isStream: boolean
}

/** Sample code for the same call. */
function Code({ api, body, isStream }: CodeProps) {
  const { data: status } = useQuery(queries.status())
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number]['value']>('curl')
  const write = LANGUAGES.find(({ value }) => value === language)?.write ?? curlOf
  if (status === undefined) return null
  if (status.ingress === null) {
    return (
      <Notice>
        <p>This node has no ingress, so programs cannot call through it. Start it without --no-ingress.</p>
      </Notice>
    )
  }
  const text = write({ ingress: status.ingress, api, body, isStream })
  return (
    <section className="stack code-beside">
      <h3>Call it from a program</h3>
      <p className="quiet">
        It calls this node’s ingress, with a key in the environment variable SOUK_KEY. No key yet?{' '}
        <Link href="/keys">Issue one</Link>
      </p>
      <div className="row between">
        <Choice label="Language" isBare options={LANGUAGES} value={language} onChange={setLanguage} />
        <Copy text={text} what="the code" />
      </div>
      <Text label={`Code in ${language}`}>{text}</Text>
    </section>
  )
}
