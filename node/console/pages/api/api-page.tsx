import { useQuery } from '@tanstack/react-query'
import { type ComponentType, lazy } from 'react'
import { useParams } from 'wouter'
import { descriptorOf } from '../../../../protocols/protocol-descriptors.ts'
import { type ApiView, queries } from '../../admin/queries.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { NotFound } from '../not-found-page.tsx'
import { ApiCalls } from './api-calls.tsx'
import { ApiOperations, ApiTry } from './operations.tsx'
import { ApiPlans } from './plans.tsx'
import { ApiSettings } from './api-settings.tsx'

const Mapping = lazy(async () => ({ default: (await import('./mapping.tsx')).ApiMapping }))

interface ApiTab {
  readonly name: string
  readonly view: ComponentType<{ readonly api: ApiView }>
  readonly isFor?: (api: ApiView) => boolean
}

const TABS: Readonly<Record<string, ApiTab>> = {
  operations: { name: 'Operations', view: ApiOperations },
  mapping: {
    name: 'Mapping',
    view: Mapping,
    isFor: ({ protocol, own }) => descriptorOf(protocol)?.hasMapping === true && own
  },
  plans: { name: 'Plans', view: ApiPlans, isFor: ({ own }) => own },
  try: { name: 'Try', view: ApiTry },
  calls: { name: 'Calls', view: ApiCalls },
  settings: { name: 'Settings', view: ApiSettings }
}

/** Page of one API served here. */
export function Api() {
  const { name, tab = 'operations' } = useParams<{ name: string; tab: string | undefined }>()
  const api = useQuery({ ...queries.api(name), refetchInterval: 5_000 })
  const known = TABS[tab]
  if (known === undefined) return <NotFound />
  const View = known.view
  return (
    <Page title={name} intro={api.data?.description}>
      <Loaded query={api}>
        {(view) => (
          <>
            <p className="row">
              <State state={view.problem === null ? view.state : 'unserved'} />
              <span>{view.protocol}</span>
              <span className="number">{view.price} USDC a call</span>
              <span className="quiet">revision {view.revision}</span>
            </p>
            <p className="quiet small">Reach: {view.reach}</p>
            {view.problem !== null && <p className="notice warn">{view.problem}</p>}
            {view.warnings.map((warning) => (
              <p key={warning} className="notice warn">
                {warning}
              </p>
            ))}
            <Tabs
              label={`Pages of ${name}`}
              at={`/apis/${name}/${tab}`}
              tabs={Object.entries(TABS)
                .filter(([, { isFor }]) => isFor?.(view) !== false)
                .map(([path, { name: title }]) => ({ path: `/apis/${name}/${path}`, name: title }))}
            />
            <View api={view} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
