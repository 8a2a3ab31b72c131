import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'wouter'
import type { FoundListingView } from '../../../admin/market/market-api.ts'
import { queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { Command, word } from '../../parts/code/command.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Field, SelectField } from '../../parts/form/field.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { pathOf } from './paths.ts'
import { Quality } from './quality.tsx'
import { PROTOCOL_NAMES } from '../../../../protocols/protocol-descriptors.ts'

const NAMES = ['q', 'protocol', 'max_price', 'min_quality', 'sort'] as const

/** Search over all APIs in the network, including this node's own. */
export function Market() {
  const [params] = useSearchParams()
  const query = Object.fromEntries(NAMES.flatMap((name) => (params.get(name) ? [[name, params.get(name) ?? '']] : [])))
  const found = useInfiniteQuery(queries.search(query))
  return (
    <Page title="Marketplace" intro="APIs of all providers that this node knows. You call each API with plain JSON.">
      <Search query={query} />
      <Loaded query={found}>
        {({ pages }) => {
          const listings = pages.flatMap(({ listings }) => listings)
          if (listings.length === 0) return <Nothing isFiltered={Object.keys(query).length > 0} />
          return (
            <>
              <p className="quiet small" role="status">
                {found.hasNextPage ? `The first ${listings.length}` : listings.length} found
              </p>
              <ul className="listings">
                {listings.map((listing) => (
                  <Listed key={listing.id} listing={listing} />
                ))}
              </ul>
              {found.hasNextPage && (
                <div>
                  <Button onClick={() => void found.fetchNextPage()} isBusy={found.isFetchingNextPage}>
                    Show more
                  </Button>
                </div>
              )}
            </>
          )
        }}
      </Loaded>
      <Command>{commandOf(query)}</Command>
    </Page>
  )
}

/** The search is stored in the URL. */
function Search({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const [, setParams] = useSearchParams()
  const set = (name: (typeof NAMES)[number], value: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === '') next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: true }
    )
  const input = (name: (typeof NAMES)[number]) => ({
    value: query[name] ?? '',
    onChange: ({ target }: { readonly target: { readonly value: string } }) => set(name, target.value)
  })
  return (
    <search className="filters">
      <Field label="Search" type="search" placeholder="weather, invoices, …" autoComplete="off" {...input('q')} />
      <SelectField label="Protocol" {...input('protocol')}>
        <option value="">any</option>
        {PROTOCOL_NAMES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <SelectField label="Price of a call" {...input('max_price')}>
        <option value="">any</option>
        <option value="0">free</option>
        <option value="0.001">up to 0.001 USDC</option>
        <option value="0.01">up to 0.01 USDC</option>
        <option value="0.1">up to 0.1 USDC</option>
      </SelectField>
      <SelectField label="Quality" {...input('min_quality')}>
        <option value="">any</option>
        <option value="0.9">0.9 and more</option>
        <option value="0.99">0.99 and more</option>
      </SelectField>
      <SelectField label="Order" {...input('sort')}>
        <option value="">best match</option>
        <option value="quality">quality</option>
        <option value="price">price</option>
        <option value="latency">latency</option>
        <option value="new">new first</option>
      </SelectField>
    </search>
  )
}

function Listed({ listing }: { readonly listing: FoundListingView }) {
  const { id, name, provider, protocol, description, tags, price, price_per_event, state, matching_operations } =
    listing
  return (
    <li className="card listing">
      <div>
        <h2>
          <Link href={pathOf(id)}>{name}</Link>
        </h2>
        <p className="row small quiet">
          <span className="tag">{protocol}</span>
          <span title={provider}>
            by <span className="id">…{provider.slice(-8)}</span>
          </span>
          {state !== 'published' && <State state={state} />}
        </p>
        {description !== '' && <p>{description.slice(0, 240)}</p>}
        <Matching id={id} operations={matching_operations} />
        {tags.length > 0 && (
          <p className="row small">
            {tags.slice(0, 8).map((tag) => (
              <span key={tag} className="tag">
                {tag}
              </span>
            ))}
          </p>
        )}
      </div>
      <div className="listing-side">
        <p className="price">
          <Amount value={price} />
          <span className="quiet small"> a call</span>
        </p>
        {price_per_event !== null && (
          <p className="small quiet">
            <Amount value={price_per_event} /> an event
          </p>
        )}
        <Quality quality={listing.quality} />
      </div>
    </li>
  )
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty
      title="Nothing was found"
      action={
        <Link href="/market" className="button">
          Show all
        </Link>
      }
    >
      Each search word must be the start of a word in an API’s name, description, tags or operations. Use fewer words.
    </Empty>
  ) : (
    <Empty
      title="No API is known here"
      action={
        <Link href="/network" className="button first">
          Look at the network
        </Link>
      }
    >
      Peers send listings within seconds after they connect. Without peers you see only your own.
    </Empty>
  )
}

function commandOf({ q, protocol, max_price, min_quality, sort }: Readonly<Record<string, string>>): string {
  const flags = [
    ...(q === undefined ? [] : q.split(/\s+/).filter(Boolean).map(word)),
    ...(protocol === undefined ? [] : [`--protocol ${word(protocol)}`]),
    ...(max_price === undefined ? [] : [`--max-price ${word(max_price)}`]),
    ...(min_quality === undefined ? [] : [`--min-quality ${word(min_quality)}`]),
    ...(sort === undefined ? [] : [`--sort ${word(sort)}`])
  ]
  return ['souk market search', ...flags].join(' ')
}

/** Operations that contain the search words. */
function Matching({
  id,
  operations
}: {
  readonly id: string
  readonly operations: FoundListingView['matching_operations']
}) {
  if (operations.length === 0) return null
  return (
    <ul className="matching small" aria-label="Matching operations">
      {operations.map(({ name, summary }) => (
        <li key={name}>
          <Link href={`${pathOf(id)}?operation=${encodeURIComponent(name)}`}>
            <code>{name}</code>
          </Link>
          {summary !== undefined && summary !== name && <span className="quiet"> {summary}</span>}
        </li>
      ))}
    </ul>
  )
}
