import type { PlanView } from '../../../admin/subscriptions/subscription-api.ts'

/** Describes what a plan's fee includes. */
export function PlanTerms({ plan }: { readonly plan: PlanView }) {
  const { included, overage, trial_days, period } = plan
  return (
    <ul className="small">
      <li>
        {included === null ? 'any number of calls' : `${included.toLocaleString()} calls`} a {period}
      </li>
      {overage.map(({ up_to, price }) => (
        <li key={`${up_to}`}>
          beyond those {up_to === null ? '' : `up to ${up_to.toLocaleString()} more `}
          {price} USDC each
        </li>
      ))}
      {included !== null && overage.at(-1)?.up_to !== null && <li>then no more until the next {period}</li>}
      {trial_days > 0 && <li>{trial_days} days on trial, which cost nothing</li>}
    </ul>
  )
}
