/** Lets a message be said once for each subject, since the same problem would appear with every resource. */
export class Once {
  readonly #subjects = new Set<string>();

  /** Marks the subject as said. Returns whether it was not before, so that its message is due. */
  markSaid(subject: string): boolean {
    const isNew = !this.#subjects.has(subject);
    this.#subjects.add(subject);
    return isNew;
  }
}
