/** Where one schema allows what another does not. */
export type Kind =
  | 'field'
  | 'required'
  | 'default'
  | 'type'
  | 'value'
  | 'bound'
  | 'form'
  | 'readOnly'
  | 'others'
export interface Misfit {
  /** `.items[].name`; empty for the schema itself. */
  at: string
  /** The schema with a name that it is in: told once, however many have it. */
  schema?: string
  kind: Kind
  /** What is not allowed: a type, a value; of a bound or a form, which. */
  what?: string
  /** What that is in either, of a bound, a form or a default. */
  wider?: string
  narrower?: string
}
