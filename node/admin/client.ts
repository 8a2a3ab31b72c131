import { dirname, join } from 'node:path'
import { pipe } from 'it-pipe'
import type { Problem } from '../../lib/interface/index.ts'
import {
  type ProfileLocation,
  profileFile,
  readProfileJson,
  runningProfiles,
  type RunningInfo
} from '../profile/profile.ts'
import { readPrivateFile } from '../profile/private-file.ts'
import { isLocked } from '../profile/is-locked.ts'
import { requestTo, type RouteInput } from '../http/route-request.ts'
import type { SendRequest } from '../http/route.ts'
import { AdminProblem, fetchFailure, NodeNotRunning, NodeSilent, otherProgram } from './node/node-errors.ts'
import type { CallEvent, CallHead, CallInput } from './api.ts'
import type { AdminSurface } from './routes.ts'
import type { EventsInput, TailItem } from './events/webhook-api.ts'

/** Head of a call's response, and its streamed body. */
export interface CallResponse {
  readonly head: CallHead
  /** Throws `AdminProblem` if the stream ends early. */
  readonly body: AsyncIterable<Uint8Array>
}

/** All methods throw `AdminProblem`, `NodeNotRunning` and `NodeSilent`. */
export interface AdminClient {
  /** Sends a request to a route of the table in `routes.ts`, such as `GET /keys/:id`. */
  readonly request: SendRequest<AdminSurface>
  /** `POST /call`, with a streamed response. */
  call(input: CallInput): Promise<CallResponse>
  /** `POST /mcp`: sends a message of the Model Context Protocol. Resolves with any status. */
  mcp(query: string, body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>
  /** `GET /events`: events as they happen, until the signal aborts or the node stops. */
  events(input: EventsInput, signal: AbortSignal): AsyncIterable<TailItem>
}

/**
 * Connects to the node that runs on a profile. Only the user who owns the profile's files can read the admin token.
 * @throws `NodeNotRunning`; SetupError `permissions_too_open`
 */
export async function connect(profile: ProfileLocation): Promise<AdminClient> {
  const running = (await readProfileJson(profile, 'running')) as RunningInfo | undefined
  const token = await readPrivateFile(profileFile(profile, 'adminToken'))
  // After kill -9, another program may listen at the address of the file, and would get the token.
  const isRunning = running !== undefined && isLocked(profileFile(profile, 'lock'))
  if (!isRunning || token === undefined) {
    const isNew = (await readProfileJson(profile, 'settings')) === undefined
    throw new NodeNotRunning(profile.name, await othersRunning(profile), isNew)
  }
  return createAdminClient({ url: running.admin, token: new TextDecoder().decode(token), profile: profile.name })
}

/** A node that was killed could not delete its file of a running node: its lock tells. */
async function othersRunning(profile: ProfileLocation): Promise<string[]> {
  const names = await runningProfiles(profile)
  const holdsLock = (name: string) => {
    const directory = join(dirname(profile.directory), name)
    return isLocked(profileFile({ name, directory }, 'lock'))
  }
  return names.filter((name) => name !== profile.name && holdsLock(name))
}

export interface AdminClientInit {
  /** For example `http://127.0.0.1:3000`. */
  readonly url: string
  readonly token: string
  /** Profile name for error messages. */
  readonly profile: string
}

export function createAdminClient({ url, token, profile }: AdminClientInit): AdminClient {
  const root = `${url}/admin/v1`
  const authorization = `Bearer ${token}`

  async function open(route: keyof AdminSurface, input: RouteInput = {}): Promise<Response> {
    const { method, target } = requestTo(route, input)
    const { body, signal = null } = input
    let response: Response
    try {
      response = await fetch(
        root + target,
        body === undefined
          ? { method, headers: { authorization }, signal }
          : {
              method,
              headers: { authorization, 'content-type': 'application/json' },
              body: JSON.stringify(body),
              signal
            }
      )
    } catch (error) {
      throw fetchFailure(error, profile, url)
    }
    if (response.ok) return response
    if (response.headers.get('content-type')?.startsWith('application/problem+json') !== true) {
      throw otherProgram(profile, url)
    }
    throw new AdminProblem((await response.json()) as Problem)
  }

  async function request(route: keyof AdminSurface, input?: RouteInput): Promise<unknown> {
    const response = await open(route, input)
    if (response.status === 204) return undefined
    try {
      return await response.json()
    } catch (error) {
      throw fetchFailure(error, profile, url)
    }
  }

  return {
    request: request as SendRequest<AdminSurface>,
    call: async (input) => readCall(await open('POST /call', { body: input })),
    async mcp(search, body, headers, signal) {
      try {
        return await fetch(`${root}/mcp?${search}`, {
          method: 'POST',
          headers: { ...headers, authorization },
          body,
          signal
        })
      } catch (error) {
        throw fetchFailure(error, profile, url)
      }
    },
    async *events(query, signal) {
      yield* tailItems(await open('GET /events', { query, signal }))
    }
  }
}

function tailItems({ body }: Response): AsyncGenerator<TailItem> {
  return pipe(body ?? [], lines, dataIn)
}

/** Values of the `data:` lines in an event stream. Each value is one line. */
async function* dataIn(source: AsyncIterable<string>): AsyncGenerator<TailItem> {
  for await (const line of source) {
    if (line.startsWith('data: ')) yield JSON.parse(line.slice('data: '.length)) as TailItem
  }
}

/** Splits UTF-8 text into complete lines. */
async function* lines(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of source) {
    const found = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = found.pop() ?? ''
    yield* found
  }
}

async function readCall({ body }: Response): Promise<CallResponse> {
  const events = pipe(body ?? [], lines, callEvents)
  const first = await events.next()
  if (first.done === true || first.value.type !== 'head') throw new NodeSilent(BROKEN)
  const { type: _, ...head } = first.value
  return { head, body: bodyOf(events) }
}

async function* bodyOf(events: AsyncIterable<CallEvent>): AsyncIterable<Uint8Array> {
  for await (const event of events) {
    if (event.type === 'data') yield Buffer.from(event.base64, 'base64')
    if (event.type === 'error') throw new AdminProblem(event.problem as Problem)
    if (event.type === 'end') return
  }
  throw new NodeSilent(BROKEN)
}

async function* callEvents(source: AsyncIterable<string>): AsyncGenerator<CallEvent, undefined> {
  try {
    for await (const line of source) yield JSON.parse(line) as CallEvent
  } catch (error) {
    throw new NodeSilent(BROKEN, { cause: error })
  }
}

const BROKEN = 'The connection to the node closed before the response ended.'
