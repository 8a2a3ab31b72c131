import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'wouter'
import type { OperationView } from '../../../admin/apis/description-api.ts'
import type { MarketListingView } from '../../../admin/market/market-api.ts'
import { queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Command, word } from '../../parts/code/command.tsx'
import { Copy } from '../../parts/code/copy.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { OperationChoice } from '../../parts/operation-choice.tsx'
import { Operations } from '../../parts/operations.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { useChosenOperation } from './chosen-operation.ts'
import { Tabs } from '../../parts/tabs.tsx'
import { pathOf } from './paths.ts'
import { Plans } from './plans.tsx'
import { Claim, Probes, Quality } from './quality.tsx'
import { TryIt } from './try-it.tsx'

/** Page of one API: description, trial calls and plans. */
export function Listing() {
  const { id, tab } = useParams<{ readonly id: string; readonly tab?: string }>()
  const api = decodeURIComponent(id)
  const listing = useQuery(queries.listing(api))
  return (
    <Page
      title={api.split('@')[0] ?? api}
      intro={listing.data?.description}
      actions={
        tab === undefined && (
          <Link href={pathOf(api, 'try')} className="button first">
            Try it
          </Link>
        )
      }
    >
      <Tabs
        label="Of this API"
        at={pathOf(api, tab === 'try' || tab === 'plans' ? tab : undefined)}
        tabs={[
          { path: pathOf(api), name: 'About' },
          { path: pathOf(api, 'try'), name: 'Try' },
          { path: pathOf(api, 'plans'), name: 'Plans' }
        ]}
      />
      <Loaded query={listing}>
        {(view) => (
          <>
            <Warning view={view} />
            {tab === 'try' ? (
              <TryIt listing={view} />
            ) : tab === 'plans' ? (
              <Plans listing={view} />
            ) : (
              <About view={view} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Warnings before use, such as a deprecation. */
function Warning({ view: { state, deprecation } }: { readonly view: MarketListingView }) {
  if (deprecation === null) {
    return state === 'published' ? null : (
      <Notice>
        <p className="row">
          <State state={state} /> Its provider takes no calls to it just now.
        </p>
      </Notice>
    )
  }
  const { sunset_at, successor, link } = deprecation
  return (
    <Notice>
      <p className="row">
        <State state="deprecated" /> It may be gone from <Moment at={sunset_at} /> on.
      </p>
      {successor !== null && (
        <p>
          To call instead: <Link href={pathOf(successor)}>{successor.split('@')[0]}</Link>
        </p>
      )}
      {link !== null && <p className="id">{link}</p>}
    </Notice>
  )
}

function About({ view }: { readonly view: MarketListingView }) {
  const { id, provider, protocol, tags, price, price_per_event, events_included, rate_limit, idempotent } = view
  return (
    <>
      <section className="card">
        <h2>Terms</h2>
        <Facts
          facts={[
            ['Price of a call', <Amount key="price" value={price} />],
            ...(price_per_event === null
              ? []
              : [
                  [
                    'Of a stream’s event',
                    <span key="event">
                      <Amount value={price_per_event} />
                      {events_included ? `, the first ${events_included} included` : ''}
                    </span>
                  ] as const
                ]),
            ['Your experience', <Quality key="quality" quality={view.quality} />],
            ...(view.probed === null ? [] : [['Probed', <Probes key="probed" probed={view.probed} />] as const]),
            ...(view.claimed_by_owner === null
              ? []
              : [['Claimed by the owner', <Claim key="claimed" claim={view.claimed_by_owner} />] as const]),
            ['Protocol', protocol],
            [
              'Rate limit',
              rate_limit === null
                ? 'none'
                : `${rate_limit.calls} calls in ${(rate_limit.per_ms / 1000).toLocaleString()} s, ${rate_limit.burst} at once`
            ],
            ['Repeats', idempotent ? 'harmless: a call may be repeated at another node' : 'a call is made once'],
            ...(tags.length === 0 ? [] : [['Tags', tags.join(', ')] as const])
          ]}
        />
      </section>
      <section className="card">
        <h2>Provider</h2>
        <Facts
          facts={[
            ['Id', <Id key="id" text={id} what="the id of the API" />],
            ['Provider', <Id key="provider" text={provider} what="the provider’s id" />],
            [
              'Served by',
              view.owners.length === 0
                ? 'no node found'
                : `${view.owners.length} ${view.owners.length === 1 ? 'node' : 'nodes'}`
            ],
            ['Signed', `revision ${view.revision}`],
            ['On', <Moment key="signed" at={view.issued_at} />],
            ['Holds until', <Moment key="until" at={view.expires_at} />],
            ...(view.known_since === null
              ? []
              : [['Known here since', <Moment key="known" at={Date.parse(view.known_since)} />] as const])
          ]}
        />
        <Command>{`souk market show ${word(id)}`}</Command>
      </section>
      <section className="stack">
        <h2>Operations</h2>
        {view.is_large && view.sdl === null ? (
          <ManyOperations api={id} operations={view.methods} />
        ) : (
          <Operations description={{ operations: view.methods, sdl: view.sdl }} />
        )}
      </section>
    </>
  )
}

/** Many operations: the schemas of the chosen one are read. */
function ManyOperations({ api, operations }: { readonly api: string; readonly operations: readonly OperationView[] }) {
  const [name, setName] = useChosenOperation(operations)
  const operation = useQuery(queries.listedOperation(api, name))
  return (
    <>
      <OperationChoice operations={operations} value={name} onChange={setName} />
      {name !== '' && (
        <Loaded query={operation}>{(one) => <Operations description={{ operations: [one], sdl: null }} />}</Loaded>
      )}
    </>
  )
}

function Id({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <span className="row">
      <span className="id">{text}</span>
      <Copy text={text} what={what} />
    </span>
  )
}
