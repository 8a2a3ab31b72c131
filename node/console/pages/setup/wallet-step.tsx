import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { ImportWalletInput, MakeWalletInput } from '../../../admin/money/wallet-api.ts'
import { request } from '../../admin/client.ts'
import { queries, type StatusView } from '../../admin/queries.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/form/choice.tsx'
import { Command } from '../../parts/code/command.tsx'
import { Download } from '../../parts/download.tsx'
import { CheckField, Field } from '../../parts/form/field.tsx'
import { FileField } from '../../parts/form/file-field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { Step } from './step.tsx'

/** Storage key of the wallet address whose backup the user has confirmed in this browser. */
const KEPT = 'souk-wallet-kept'

/** Step to create or import a wallet, back it up, and restart the node with it. */
export function WalletStep({ status }: { readonly status: StatusView }) {
  const card = useQuery(queries.walletCard())
  const [kept, setKept] = useState(() => localStorage.getItem(KEPT))
  const address = status.wallet ?? card.data?.address ?? null
  const isKept = address !== null && kept === address
  const keep = (isNow: boolean) => {
    if (address === null) return
    if (isNow) localStorage.setItem(KEPT, address)
    else localStorage.removeItem(KEPT)
    setKept(isNow ? address : null)
  }
  return (
    <Step title="Wallet" isDone={status.wallet !== null && isKept} isOptional={status.till === 'metered'}>
      <Loaded query={card}>
        {({ money, network }) =>
          address === null ? (
            <Making isMetered={status.till === 'metered'} />
          ) : (
            <>
              <p>
                {status.wallet === null ? 'Made' : 'In use'}: <span className="id">{address}</span>, for {money} on{' '}
                {network}. {status.wallet !== null && <Link href="/wallet">Open the wallet</Link>}
              </p>
              <Backup address={address} isKept={isKept} onKept={keep} />
              {status.wallet === null && <Restart />}
            </>
          )
        }
      </Loaded>
    </Step>
  )
}

const WAYS = [
  { value: 'create', name: 'Create' },
  { value: 'import', name: 'Import' }
] as const

function Making({ isMetered }: { readonly isMetered: boolean }) {
  const [way, setWay] = useState<(typeof WAYS)[number]['value']>('create')
  return (
    <>
      <p>
        {isMetered
          ? 'This node was told to count calls only, and moves no money. '
          : 'To pay for calls, and to fetch what was earned, the node needs a wallet. '}
        Its key is a file on this machine, encrypted with a passphrase of yours.
      </p>
      <Choice label="Create or import" isBare options={WAYS} value={way} onChange={setWay} />
      {way === 'create' ? <Create /> : <Import />}
    </>
  )
}

const CHANGES = ['wallet', 'status', 'doctor']

function Create() {
  const [passphrase, setPassphrase] = useState('')
  const [again, setAgain] = useState('')
  const making = useWrite((input: MakeWalletInput) => request('POST /wallet', { body: input }), CHANGES)
  return (
    <Form onSubmit={() => making.mutate({ passphrase })}>
      <Passphrases passphrase={passphrase} again={again} onPassphrase={setPassphrase} onAgain={setAgain} />
      {making.error !== null && <ErrorNotice error={making.error} />}
      <Command>souk wallet create</Command>
      <div>
        <Button look="first" type="submit" isBusy={making.isPending} disabled={passphrase !== again}>
          Create the wallet
        </Button>
      </div>
    </Form>
  )
}

function Import() {
  const [file, setFile] = useState<{ readonly name: string; readonly text: string }>()
  const [old, setOld] = useState('')
  const [passphrase, setPassphrase] = useState('')
  const [again, setAgain] = useState('')
  const making = useWrite((input: ImportWalletInput) => request('POST /wallet/import', { body: input }), CHANGES)
  return (
    <Form
      onSubmit={() => file !== undefined && making.mutate({ key_file: file.text, old_passphrase: old, passphrase })}
    >
      <FileField
        label="Key file"
        hint="Key file of another wallet: an Ethereum keystore, version 3. Only the command line imports unencrypted keys."
        accept=".json,application/json"
        known={file?.name}
        read={async ([first]) => {
          if (first === undefined) throw new Error('Choose a file.')
          return { name: first.name, text: await first.text() }
        }}
        onRead={setFile}
      />
      <Field
        label="Its passphrase now"
        type="password"
        autoComplete="off"
        required
        value={old}
        onChange={({ target }) => setOld(target.value)}
      />
      <Passphrases passphrase={passphrase} again={again} onPassphrase={setPassphrase} onAgain={setAgain} />
      {making.error !== null && <ErrorNotice error={making.error} />}
      <Command>{'souk wallet import <key file>'}</Command>
      <div>
        <Button look="first" type="submit" isBusy={making.isPending} disabled={passphrase !== again}>
          Import the wallet
        </Button>
      </div>
    </Form>
  )
}

interface PassphrasesProps {
  readonly passphrase: string
  readonly again: string
  readonly onPassphrase: (text: string) => void
  readonly onAgain: (text: string) => void
}

function Passphrases({ passphrase, again, onPassphrase, onAgain }: PassphrasesProps) {
  const password = { type: 'password', autoComplete: 'new-password', required: true } as const
  return (
    <div className="pair">
      <Field
        {...password}
        label="Passphrase"
        hint="The node asks for it at each start."
        value={passphrase}
        onChange={({ target }) => onPassphrase(target.value)}
      />
      <Field
        {...password}
        label="The same again"
        fault={again !== '' && again !== passphrase ? 'The two differ.' : undefined}
        value={again}
        onChange={({ target }) => onAgain(target.value)}
      />
    </div>
  )
}

interface BackupProps {
  readonly address: string
  readonly isKept: boolean
  readonly onKept: (isKept: boolean) => void
}

function Backup({ address, isKept, onKept }: BackupProps) {
  return (
    <>
      {!isKept && (
        <>
          <p>
            Keep a copy of its key file on another disk, and its passphrase elsewhere. If you lose either, the money in
            the wallet is lost for ever.
          </p>
          <div>
            <Download
              name={`souk-wallet-${address.slice(0, 10)}.json`}
              type="application/json"
              content={async () => (await request('GET /wallet/key-file')).key_file}
            >
              Download the key file
            </Download>
          </div>
          <Command>{'souk wallet backup <file>'}</Command>
        </>
      )}
      <CheckField
        label="I have a copy of the key file, and the passphrase"
        checked={isKept}
        onChange={({ target }) => onKept(target.checked)}
      />
    </>
  )
}

function Restart() {
  return (
    <Notice>
      <p>The node uses the wallet from its next start. Stop it with Ctrl-C in its terminal, then run:</p>
      <Command>souk up</Command>
    </Notice>
  )
}
