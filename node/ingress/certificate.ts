import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { limits } from '../../lib/index.ts'
import type { Clock, Timer } from '../../lib/interface/index.ts'
import type { DoctorCheck } from '../admin/api.ts'
import { fail, ok, warn } from '../finding.ts'
import type { Log } from '../log.ts'
import { SetupError } from '../setup-error.ts'

export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

export interface Certificate {
  /** PEM texts. */
  readonly cert: string
  readonly key: string
  /** The names that it is valid for. */
  readonly names: string
  /** When it is valid, in milliseconds since the Unix epoch. */
  readonly from: number
  readonly until: number
}

/** Reads the certificate of the ingress. @throws SetupError `config_invalid`, also if the key is that of another certificate */
export async function readCertificate({ certFile, keyFile }: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([textOf(certFile), textOf(keyFile)])
  const own = orRefuse(() => new X509Certificate(cert), `${certFile} has no certificate in PEM.`)
  const ownKey = orRefuse(
    () => createPrivateKey(key),
    `${keyFile} has no private key in PEM, or needs a passphrase.`,
    `openssl pkey -in ${keyFile} -out key.pem, which removes the passphrase`
  )
  if (!own.checkPrivateKey(ownKey)) {
    throw new SetupError('config_invalid', `${keyFile} is not the key of the certificate in ${certFile}.`, {
      hint: 'the key of the first certificate in the file'
    })
  }
  orRefuse(() => createSecureContext({ cert, key }), `${certFile} cannot be used for TLS.`)
  return {
    cert,
    key,
    names: own.subjectAltName ?? own.subject,
    from: own.validFromDate.getTime(),
    until: own.validToDate.getTime()
  }
}

function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new SetupError('config_invalid', `${path} cannot be read.`, { cause })
  })
}

function orRefuse<T>(read: () => T, message: string, hint?: string): T {
  try {
    return read()
  } catch (cause) {
    throw new SetupError('config_invalid', message, { cause, ...(hint === undefined ? {} : { hint }) })
  }
}

/** Why clients refuse a certificate at this time; undefined if its dates are right. */
function dateFault({ from, until }: Certificate, now: number): string | undefined {
  if (now < from) return `The certificate of the ingress is not valid before ${dayOf(from)}, so clients refuse it.`
  return now < until ? undefined : `The certificate of the ingress expired on ${dayOf(until)}, so clients refuse it.`
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

const RENEW = 'renew it; the node takes the new files without a restart'

/** The check of `souk doctor`. */
export async function checkCertificate(files: CertificateFiles, now: number): Promise<DoctorCheck> {
  try {
    const read = await readCertificate(files)
    const fault = dateFault(read, now)
    if (fault !== undefined) return fail('certificate', fault, RENEW)
    const text = `${read.names}; valid until ${dayOf(read.until)}`
    return read.until - now < limits.CERTIFICATE_LEFT_MS_MIN
      ? warn('certificate', text, RENEW)
      : ok('certificate', text)
  } catch (error) {
    if (error instanceof SetupError) return fail('certificate', error.message, error.hint ?? 'look at the file')
    throw error
  }
}

export interface CertificateWatchInit {
  readonly files: CertificateFiles
  /** The certificate in use. */
  readonly first: Certificate
  readonly use: (certificate: Certificate) => void
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** Uses renewed files without a restart, and logs why clients refuse the certificate. */
export function watchCertificate({ files, first, use, clock, log }: CertificateWatchInit): Timer {
  let used = first
  let told: string | undefined
  let timer: Timer | undefined
  let isStopped = false
  const tell = (fault: string | undefined): void => {
    if (fault !== undefined && fault !== told) log.warn(fault)
    told = fault
  }
  const look = async (): Promise<void> => {
    try {
      const found = await readCertificate(files)
      if (found.cert !== used.cert || found.key !== used.key) {
        use(found)
        used = found
        log.info(`The ingress uses the new certificate in ${files.certFile}, valid until ${dayOf(found.until)}.`)
      }
      tell(dateFault(used, clock.now()))
    } catch (error) {
      tell(`The ingress keeps its certificate. ${error instanceof Error ? error.message : String(error)}`)
    }
    lookLater()
  }
  const lookLater = (): void => {
    if (!isStopped) timer = clock.after(limits.CERTIFICATE_REREAD_MS, () => void look())
  }
  tell(dateFault(first, clock.now()))
  lookLater()
  return {
    cancel() {
      isStopped = true
      timer?.cancel()
    }
  }
}
