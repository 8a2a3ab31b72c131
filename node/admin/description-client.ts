import type { MappingInput } from './api.ts'
import type {
  DescriptionView,
  MappingPreviewView,
  UpstreamCallInput,
  UpstreamCallView,
  UpstreamCheckInput,
  UpstreamCheckView
} from './description-api.ts'

/** What APIs are, and what they could be. One method per route; throws as `AdminClient`. */
export interface DescriptionClient {
  description(name: string): Promise<DescriptionView>
  /** What an upstream would be, before it is registered. */
  checkUpstream(input: UpstreamCheckInput): Promise<UpstreamCheckView>
  callUpstream(input: UpstreamCallInput): Promise<UpstreamCallView>
  previewMapping(name: string, input: MappingInput): Promise<MappingPreviewView>
}

export function descriptionClient(
  json: <T>(method: string, path: string, body?: unknown) => Promise<T>
): DescriptionClient {
  return {
    description: (name) => json('GET', `/apis/${encodeURIComponent(name)}/description`),
    checkUpstream: (input) => json('POST', '/upstreams/check', input),
    callUpstream: (input) => json('POST', '/upstreams/call', input),
    previewMapping: (name, input) => json('POST', `/apis/${encodeURIComponent(name)}/mapping/preview`, input)
  }
}
