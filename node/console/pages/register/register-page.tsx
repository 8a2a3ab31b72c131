import { useState } from 'react'
import { Link } from 'wouter'
import type { RegisteredView } from '../../../admin/api.ts'
import type { UpstreamCheckView } from '../../../admin/apis/description-api.ts'
import { Problem, request } from '../../admin/client.ts'
import { useSingle } from '../../admin/use-single.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Amount } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Command, word } from '../../parts/code/command.tsx'
import { CheckField } from '../../parts/form/field.tsx'
import { Facts } from '../../parts/facts.tsx'
import { providerShare } from '../../parts/money.ts'
import { Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { Step, Steps } from '../../parts/steps.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { AccessStep } from './access.tsx'
import { registerCommand } from './command.ts'
import {
  type Auth,
  type Files,
  type Making,
  nameFor,
  registrationOf,
  upstreamOf,
  useDraft,
  type Wish
} from './draft.ts'
import { Discover, draftOf } from './discover.tsx'
import { SourceStep } from './source.tsx'
import { TermsStep } from './terms.tsx'
import { DryRunStep } from './dry-run.tsx'

const STEPS = ['Source', 'Credentials', 'Price', 'Test call', 'Publish']

/** Wizard to register and publish an API. */
export function Register() {
  const { draft, set, forget } = useDraft()
  const [files, setFiles] = useState<Files>({})
  const [auth, setAuth] = useState<Auth>()
  const [isIncomplete, setIncomplete] = useState(false)
  const [at, setAt] = useState(0)
  /** Why nobody can be paid on this node. */
  const [unpayable, setUnpayable] = useState<string | null>(null)
  const [done, setDone] = useState<RegisteredView>()
  const making: Making = { draft, files, auth, isIncomplete }
  const check = useSingle({
    mutationFn: ({ auth: given = auth, change }: Wish) =>
      request('POST /upstreams/check', { body: upstreamOf({ draft: { ...draft, ...change }, files, auth: given }) }),
    onSuccess: (_, { change }) => {
      const { name, endpoint } = { ...draft, ...change }
      if (name === '') set({ name: nameFor(endpoint) })
      setIncomplete(false)
      setAt(at + 1)
    }
  })
  if (done !== undefined) {
    return (
      <Page title="Register an API">
        <Published view={done} />
      </Page>
    )
  }
  return (
    <Page title="Register an API" intro="Five steps. This browser stores your inputs, except credentials and files.">
      <Steps label="Steps" names={STEPS} at={at} />
      {at > 0 && check.data !== undefined && at < 4 && <Found view={check.data} protocol={draft.protocol} />}
      {at === 0 && (
        <>
          <Discover
            auth={auth}
            onFound={(found, view) => {
              const change = draftOf(found, view)
              set(change)
              setUnpayable(view.unpayable)
              check.mutate({ change })
            }}
          />
          <SourceStep
            draft={draft}
            files={files}
            set={set}
            setFiles={setFiles}
            check={check}
            onAccess={() => setAt(1)}
          />
        </>
      )}
      {at === 1 && (
        <AccessStep
          protocol={draft.protocol}
          isBusy={check.isPending}
          error={check.error}
          onBack={() => setAt(0)}
          onDone={(given) => {
            setAuth(given)
            // Without credentials, the first step has already read the API.
            if (given === undefined && check.data !== undefined) setAt(2)
            else check.mutate({ auth: given })
          }}
        />
      )}
      {at === 2 && (
        <TermsStep draft={draft} unpayable={unpayable} set={set} onBack={() => setAt(1)} onDone={() => setAt(3)} />
      )}
      {at === 3 && check.data !== undefined && (
        <DryRunStep making={making} description={check.data} onBack={() => setAt(2)} onDone={() => setAt(4)} />
      )}
      {at === 4 && (
        <PublishStep
          making={making}
          missing={check.data?.missing ?? []}
          setIncomplete={setIncomplete}
          onBack={() => setAt(3)}
          onDone={(view) => {
            forget()
            setDone(view)
          }}
        />
      )}
    </Page>
  )
}

/** Summary of the read description: number of operations, and warnings. */
function Found({ view, protocol }: { readonly view: UpstreamCheckView; readonly protocol: string }) {
  const names = view.operations.map(({ name }) => name)
  const many = names.length
  return (
    <Notice mood={view.warnings.length === 0 ? 'good' : 'warn'}>
      <p>
        <strong>
          {many === 0 ? `It is ${protocol}.` : `It is ${protocol}, with ${many} operation${many === 1 ? '' : 's'}:`}
        </strong>{' '}
        {names.slice(0, 12).join(', ')}
        {many > 12 && ` and ${many - 12} more`}
      </p>
      {view.warnings.length > 0 && <List of={view.warnings} />}
    </Notice>
  )
}

interface PublishProps {
  readonly making: Making
  /** The warnings that name a missing import. */
  readonly missing: readonly string[]
  readonly setIncomplete: (isIncomplete: boolean) => void
  readonly onBack: () => void
  readonly onDone: (view: RegisteredView) => void
}

function PublishStep({ making, missing: known, setIncomplete, onBack, onDone }: PublishProps) {
  const { draft, auth, isIncomplete } = making
  const publishing = useWrite(
    (replace: boolean) => request('POST /apis', { body: { ...registrationOf(making), replace } }),
    ['apis', 'status', 'doctor'],
    onDone
  )
  const changes = changesIn(publishing.error)
  const refused = missingIn(publishing.error)
  const missing = refused ?? known
  return (
    <Step title="Publish it?" intro="Then every consumer on the network can find the API and call it for its price.">
      <Facts
        facts={[
          ['Name', draft.name],
          ['Kind', draft.protocol],
          [
            'Endpoint',
            <span key="endpoint" className="id">
              {draft.endpoint}
            </span>
          ],
          ['Credentials', auth === undefined ? 'none' : 'given'],
          ['A call costs', <Amount key="price" value={draft.price} />],
          ['You receive', <Amount key="share" value={providerShare(draft.price) ?? '0'} />]
        ]}
      />
      {missing.length > 0 && (
        <Notice mood="warn">
          <p>Documents that the WSDL imports are missing. Calls that need them may fail.</p>
          <List of={missing} />
          <CheckField
            label="Publish it without these documents"
            hint="Or go back, and give the WSDL with its imports as files or as a zip."
            checked={isIncomplete}
            onChange={({ target }) => setIncomplete(target.checked)}
          />
        </Notice>
      )}
      {publishing.error !== null && changes === undefined && refused === undefined && (
        <ErrorNotice error={publishing.error} />
      )}
      <Command>{registerCommand(making)}</Command>
      <div className="row">
        <Button
          look="first"
          disabled={missing.length > 0 && !isIncomplete}
          isBusy={publishing.isPending}
          onClick={() => publishing.mutate(false)}
        >
          Publish
        </Button>
        <Button look="plain" onClick={onBack}>
          Back
        </Button>
      </div>
      {changes !== undefined && (
        <Confirm
          title={`Replace ${draft.name}?`}
          action="Replace"
          instead="Leave it"
          isGrave
          command={`${registerCommand(making)} --replace`}
          write={() => publishing.mutateAsync(true)}
          changes={['apis', 'status', 'doctor']}
          onClose={publishing.reset}
          onDone={() => undefined}
        >
          <p>{draft.name} is already registered here. This changes:</p>
          <ul>
            {changes.map(({ field, from, to }) => (
              <li key={field}>
                {field}: {from} → {to}
              </li>
            ))}
          </ul>
        </Confirm>
      )}
    </Step>
  )
}

/** The changes that need a confirmation. */
function changesIn(error: Error | null): Problem['changes'] | undefined {
  return error instanceof Problem && error.code === 'api_exists' ? error.changes : undefined
}

/** The missing imports that need a yes. */
function missingIn(error: Error | null): Problem['missing'] | undefined {
  return error instanceof Problem && error.code === 'description_incomplete' ? error.missing : undefined
}

function List({ of }: { readonly of: readonly string[] }) {
  return (
    <ul>
      {of.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  )
}

function Published({ view: { api, updated, warnings } }: { readonly view: RegisteredView }) {
  return (
    <Step
      title={updated ? `${api.name} has a new revision` : `${api.name} is on the market`}
      intro={
        api.published === null || api.published.stored === 0
          ? 'No peer is connected yet. The API is announced when peers connect.'
          : `${api.published.stored} peers know where it is.`
      }
    >
      {warnings.length > 0 && <Notice>{warnings.join(' ')}</Notice>}
      <Facts
        facts={[
          [
            'Its full name',
            <span key="id" className="id">
              {api.id}
            </span>
          ]
        ]}
      />
      <Command>{`souk call ${word(api.name)} '{}'`}</Command>
      <div className="row">
        <Link className="button first" href={`/apis/${api.name}/try`}>
          Try it
        </Link>
        <Link className="button" href={`/apis/${api.name}`}>
          See it
        </Link>
      </div>
    </Step>
  )
}
