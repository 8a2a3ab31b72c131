import {
  type CompleteRequestParams,
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode
} from '@modelcontextprotocol/server'
import { limits } from '../../lib/index.ts'
import type { Souk } from '../../lib/interface/index.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import type { PromptBox, ResourceBox } from './agent.ts'
import { RESOURCE_TEMPLATES, resourceUri } from './resource-uri.ts'
import { text } from './tool-result.ts'

const TASK = { name: 'task', description: 'What the user wants.', required: true }

export const PROMPTS: readonly Prompt[] = [
  {
    name: 'find-an-api',
    title: 'Find an API',
    description: 'Finds the APIs that fit a task, and compares price and quality.',
    arguments: [
      TASK,
      { name: 'max_price', description: 'Maximum price of a call in USDC, like 0.01.', required: false }
    ]
  },
  {
    name: 'use-an-api',
    title: 'Use an API',
    description: 'Reads the listing of an API and uses it for a task.',
    arguments: [{ name: 'api', description: 'A name, or name@provider.', required: true }, TASK]
  }
]

type Values = Readonly<Record<string, string>>

/** Prompts, and suggestions for their arguments and those of resource templates. */
export function createPrompts(
  souk: Pick<Souk, 'search' | 'resolve' | 'descriptions'>,
  holder: Pick<KeyHolder, 'apis'> | undefined,
  apis: readonly string[],
  resources: ResourceBox
): PromptBox {
  async function suggestedApis(start: string, signal: AbortSignal): Promise<string[]> {
    const scoped = holder?.apis
    const found =
      scoped === undefined
        ? (await souk.search({ ...(start === '' ? {} : { text: start }), limit: limits.PAGE_MAX }, signal)).listings
        : []
    const names = [...(scoped ?? apis), ...found.map(({ manifest }) => manifest.name)]
    return [...new Set(names)].filter((name) => name.startsWith(start))
  }

  async function suggestedOperations(api: string, start: string, signal: AbortSignal): Promise<string[]> {
    const found = await souk.resolve(api, { signal })
    const operations = await souk.descriptions.operations(found, {}, signal)
    return operations.map(({ name }) => name).filter((name) => name.toLowerCase().startsWith(start.toLowerCase()))
  }

  return {
    async get(name, given, signal) {
      checkArguments(name, given)
      const { task = '', max_price: most, api = '' } = given
      if (name === 'find-an-api') {
        const bound = most === undefined ? '' : ` A call may cost at most ${most} USDC.`
        return prompt(
          `Find an API of the Souk marketplace for this task: ${task}\n\nSearch with souk_search, read the best candidates with souk_show, and compare price, quality and operations.${bound} Recommend one and say what a call costs. Call nothing yet.`
        )
      }
      const listing = await resources.read(resourceUri({ api, kind: 'listing' }), signal)
      const said = prompt(
        `Use the API ${api} of the Souk marketplace for this task: ${task}\n\nIts listing follows. Read an operation with souk_show before you call it. Use the tools of the API, or souk_call. Say what each call costs.`
      )
      const parts = listing.contents.map((resource) => ({
        role: 'user' as const,
        content: { type: 'resource' as const, resource }
      }))
      return { messages: [...said.messages, ...parts] }
    },

    async complete({ ref, argument, context }, signal) {
      if (!takes(ref, argument.name)) return { values: [] }
      // A suggestion that cannot be made is no error.
      const values = await (argument.name === 'api'
        ? suggestedApis(argument.value, signal)
        : suggestedOperations(context?.arguments?.['api'] ?? '', argument.value, signal)
      ).catch(() => [])
      const shown = values.slice(0, limits.MCP_COMPLETIONS_MAX)
      return { values: shown, total: values.length, hasMore: values.length > shown.length }
    }
  }
}

/** Whether suggestions exist for an argument. */
function takes(ref: CompleteRequestParams['ref'], argument: string): boolean {
  if (ref.type === 'ref/prompt') return ref.name === 'use-an-api' && argument === 'api'
  const template = RESOURCE_TEMPLATES.find(({ uriTemplate }) => uriTemplate === ref.uri)
  return (argument === 'api' || argument === 'operation') && template?.uriTemplate.includes(`{${argument}}`) === true
}

/** @throws ProtocolError */
function checkArguments(name: string, given: Values): void {
  const known = PROMPTS.find((each) => each.name === name)
  if (known === undefined) {
    const names = PROMPTS.map((each) => each.name).join(', ')
    throw invalid(`There is no prompt with this name. The prompts are ${names}.`)
  }
  for (const { name: argument, required } of known.arguments ?? []) {
    const value = given[argument] ?? ''
    if (required === true && value.trim() === '') throw invalid(`The argument "${argument}" is missing.`)
    if (value.length > limits.MCP_PROMPT_ARGUMENT_CHARS_MAX) {
      throw invalid(`The argument "${argument}" may have at most ${limits.MCP_PROMPT_ARGUMENT_CHARS_MAX} characters.`)
    }
  }
}

function invalid(detail: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, detail)
}

function prompt(said: string): GetPromptResult {
  return { messages: [{ role: 'user', content: text(said) }] }
}
