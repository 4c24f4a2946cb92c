/** Where systemd wants to be told that the start is done (sd_notify(3)). Null: it did not start this process, or does not wait. */
export const notifySocket = (): string | null => process.env.NOTIFY_SOCKET || null
