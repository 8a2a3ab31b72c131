import { Icon, type IconName } from './icon.tsx'

export type Mood = 'good' | 'warn' | 'bad' | 'accent' | 'quiet'

const ICONS: Readonly<Record<Mood, IconName>> = {
  good: 'good',
  warn: 'warn',
  bad: 'bad',
  accent: 'wait',
  quiet: 'pause'
}

/** How much each state of a thing is to be worried about. States that are not here are told without. */
const MOODS: Readonly<Record<string, Mood>> = {
  published: 'good',
  active: 'good',
  ok: 'good',
  valid: 'good',
  open: 'good',
  trialing: 'accent',
  rotating: 'accent',
  canceling: 'warn',
  deprecated: 'warn',
  warn: 'warn',
  paused: 'quiet',
  disabled: 'quiet',
  draft: 'quiet',
  expired: 'bad',
  revoked: 'bad',
  retired: 'bad',
  canceled: 'bad',
  unserved: 'bad',
  fail: 'bad'
}

/** Words for what machines say shorter. */
const WORDS: Readonly<Record<string, string>> = { warn: 'warning', fail: 'problem' }

/** A state by word, icon and colour: none of them alone. */
export function State({ state, mood = MOODS[state] ?? 'quiet' }: { readonly state: string; readonly mood?: Mood }) {
  return (
    <span className={`state ${mood}`}>
      <Icon name={ICONS[mood]} />
      {WORDS[state] ?? state}
    </span>
  )
}
