import { shellWord } from '../../shell-word.ts'

/** The choices made in `souk init`. */
export interface Plan {
  readonly profile: string
  readonly network: string
  readonly role: 'sell' | 'buy' | 'both'
  /** Address of the wallet; null without one. */
  readonly wallet: string | null
  readonly payout: string | null
  readonly api: {
    readonly name: string
    readonly protocol: string
    readonly endpoint: string
    readonly price: string
  } | null
}

interface Setting {
  /** Commands need no `--profile`. */
  readonly isDefault: boolean
  readonly isPlay: boolean
  /** The wallet has play money. */
  readonly isFunded: boolean
}

/** A command that works as it stands, and its purpose. */
export interface Step {
  readonly command: string
  readonly purpose: string
}

/** Play USDC of a new wallet: thousands of calls. */
export const PLAY_USDC = '10'

/** The next commands, in order. */
export function nextSteps({ profile, network, role, wallet, payout, api }: Plan, setting: Setting): Step[] {
  const { isPlay, isFunded } = setting
  const souk = setting.isDefault ? 'souk' : `souk --profile ${profile}`
  const isSelling = role !== 'buy'
  const chain = CHAINS[network]
  const steps: Array<readonly [string, string] | false> = [
    wallet !== null && !isPlay && [`${souk} wallet backup souk-wallet-${profile}.json`, 'Back up the wallet'],
    wallet !== null && !isPlay && [`${souk} wallet deposit`, 'Show the address to send money to'],
    isPlay && !isFunded && chain !== undefined && [chain, 'Run the network on this machine, in a terminal of its own'],
    wallet !== null &&
      isPlay &&
      !isFunded && [`${souk} wallet deposit ${PLAY_USDC}`, 'Get play USDC, and play ETH for gas'],
    [`${souk} up`, 'Run the node, in a terminal of its own'],
    isSelling && wallet !== null && payout === null && [`${souk} payout set <address>`, 'Set where your earnings go'],
    isSelling &&
      (api === null
        ? [`${souk} sell http://localhost:8080`, 'Sell the API that runs at this URL']
        : [`${souk} api register ${apiOptions(api)}`, 'Sell the API']),
    role !== 'sell' && [`${souk} search`, 'See what others sell'],
    role !== 'sell' && [`${souk} key issue --label my-program`, 'Create a key for a program that calls APIs'],
    [`${souk} console`, 'Manage the node in a browser'],
    [`${souk} doctor`, 'Find out what is missing']
  ]
  return steps.flatMap((step) => (step === false ? [] : [{ command: step[0], purpose: step[1] }]))
}

/** The command that runs a network’s chain on this machine. */
const CHAINS: Readonly<Record<string, string>> = { demo: 'souk demo', dev: 'souk dev' }

/** The purpose stands above its command: an interactive zsh has no comments. */
export function stepLines(steps: readonly Step[]): string[] {
  return steps.flatMap(({ command, purpose }) => [`${purpose}:`, `  ${command}`])
}

function apiOptions({ name, protocol, endpoint, price }: NonNullable<Plan['api']>): string {
  return `--name ${shellWord(name)} --protocol ${protocol} --endpoint ${shellWord(endpoint)} --price ${price}`
}
