import { Icon, type IconName } from './icon.tsx'

export type Mood = 'good' | 'warn' | 'bad' | 'accent' | 'quiet'

const ICONS: Readonly<Record<Mood, IconName>> = {
  good: 'good',
  warn: 'warn',
  bad: 'bad',
  accent: 'wait',
  quiet: 'pause'
}

/** Severity of each state. States without an entry are `quiet`. */
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

/** Full words for abbreviated states. */
const WORDS: Readonly<Record<string, string>> = { warn: 'warning', fail: 'problem' }

/** Shows a state by word, icon and colour together, for accessibility. */
export function State({ state, mood = MOODS[state] ?? 'quiet' }: { readonly state: string; readonly mood?: Mood }) {
  return (
    <span className={`state ${mood}`}>
      <Icon name={ICONS[mood]} />
      {WORDS[state] ?? state}
    </span>
  )
}
