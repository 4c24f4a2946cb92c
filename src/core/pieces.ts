/**
 * A text that was made from a template: fixed[0], values[0], fixed[1], and so on to the last of `fixed`. All messages with the same
 * fixed texts share one list of them, so that work on them is done once.
 */
export type Pieces = { readonly fixed: readonly string[]; readonly values: readonly string[] }
