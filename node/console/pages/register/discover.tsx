import { useState } from 'react'
import type { DiscoveredView } from '../../../admin/apis/discovery-api.ts'
import { request } from '../../admin/client.ts'
import { useSingle } from '../../admin/use-single.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Step } from '../../parts/steps.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import type { Auth, Draft } from './draft.ts'

export type Found = DiscoveredView['found'][number]

interface DiscoverProps {
  readonly auth: Auth | undefined
  /** Fills the form with what was found, and goes on. */
  readonly onFound: (found: Found, view: DiscoveredView) => void
}

/** Finds out what is at an address, like `souk sell`. Several APIs at one address are a choice. */
export function Discover({ auth, onFound }: DiscoverProps) {
  const [address, setAddress] = useState('')
  const discovery = useSingle({
    mutationFn: () =>
      request('POST /upstreams/discover', {
        body: { endpoint: withScheme(address), ...(auth === undefined ? {} : { auth }) }
      }),
    onSuccess: (view) => {
      const [only] = view.found
      if (only !== undefined && view.found.length === 1) onFound(only, view)
    }
  })
  const { data } = discovery
  return (
    <Step
      title="What do you sell?"
      intro="The node looks what is there, and reads its description. Nothing is published before the last step."
    >
      <Form onSubmit={() => discovery.mutate()}>
        <Field
          label="Where is it?"
          required
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          placeholder="http://localhost:8080"
          hint="URL of the API, of its description, or of its host. It may be in your own network: only this node calls it."
          value={address}
          onChange={({ target }) => setAddress(target.value.trim())}
        />
        {discovery.error !== null && <ErrorNotice error={discovery.error} />}
        <div className="row">
          <Button look="first" type="submit" isBusy={discovery.isPending}>
            Find out
          </Button>
        </div>
      </Form>
      {data !== undefined && data.found.length > 1 && (
        <Notice mood="good">
          <p>There are several APIs. Which one do you sell?</p>
          <div className="row">
            {data.found.map((found) => (
              <Button key={`${found.protocol} ${found.at}`} onClick={() => onFound(found, data)}>
                {nameOf(found)}
              </Button>
            ))}
          </div>
        </Notice>
      )}
    </Step>
  )
}

/** `localhost:8080` is an address too. */
function withScheme(typed: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `http://${typed}`
}

function nameOf({ protocol, title, at, operations }: Found): string {
  const many = operations === 1 ? '1 operation' : `${operations} operations`
  return `${protocol}${title === '' ? '' : ` “${title}”`}, ${many}, at ${at}`
}

/** The form as it would be filled in by hand. */
export function draftOf(found: Found, { name }: DiscoveredView): Partial<Draft> {
  const { protocol, endpoint, openapi, method, title, description } = found
  const isByHand = protocol === 'REST' && openapi === null
  return {
    protocol,
    endpoint,
    source: isByHand ? 'hand' : 'url',
    openapi: openapi ?? '',
    ...(isByHand && method !== null ? { method: method as Draft['method'], isExplicit: false } : {}),
    name,
    description: description === '' ? title : description
  }
}
