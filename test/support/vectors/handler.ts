// One operation of a vector file: the input of a vector in, what the product really answers out.

// biome-ignore lint/suspicious/noExplicitAny: vectors are untyped JSON; each handler knows the shape of its own file
export type Handler = (input: any) => Record<string, unknown>

/** Handlers by the base name of the vector file they serve, e.g. `gsm` for `gsm.json`. */
export type Handlers = Record<string, Handler>
