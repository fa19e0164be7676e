# Find the command among the words so far, how many further words there are, and what goes along to mesosctl.
function __PROGRAM_walk
    set -l line (commandline -cp | string collect)
    if test "$line" = "$__PROGRAM_line"; and set -q __PROGRAM_path
        return
    end
    set -g __PROGRAM_line $line
    set -g __PROGRAM_path ""
    set -g __PROGRAM_count 0
    set -g __PROGRAM_along
    set -g __PROGRAM_master "$MESOSCTL_MASTER"
    set -g __PROGRAM_context "$MESOSCTL_CONTEXT"
    set -l skip ""
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test -z "$skip"; and string match -q -- '--*=*' $word
            set -l parts (string split -m 1 = -- $word)
            set skip $parts[1]
            set word $parts[2]
        else if test -z "$skip"
            set -l deeper (string trim -- "$__PROGRAM_path $word")
            if contains -- $word VALUED
                set skip $word
            else if string match -q -- '-*' $word
                continue
            else if test $__PROGRAM_count -eq 0; and contains -- $deeper PATHS
                set -g __PROGRAM_path $deeper
            else
                set -g __PROGRAM_count (math $__PROGRAM_count + 1)
            end
            continue
        end
        if contains -- $skip GOES_ALONG
            set -a __PROGRAM_along $skip (string replace -r '^~/' "$HOME/" -- $word)
        end
        switch $skip
            case --master
                set -g __PROGRAM_master $word
            case --context
                set -g __PROGRAM_context $word
        end
        set skip ""
    end
end

# Whether the words so far lead to a command, with so many further words after it; 1+ means one or more.
function __PROGRAM_at
    __PROGRAM_walk
    test "$__PROGRAM_path" = "$argv[1]"; or return 1
    switch "$argv[2]"
        case ''
            return 0
        case '*+'
            test $__PROGRAM_count -ge (string trim -c + -- $argv[2])
        case '*'
            test $__PROGRAM_count -eq $argv[2]
    end
end

# Names of some kinds that mesosctl keeps; it is asked only where they are too old.
function __PROGRAM_names
    __PROGRAM_walk
    set -l where default
    if test -n "$__PROGRAM_master"
        set -l address (string replace -r '//.*@' '//' -- $__PROGRAM_master)
        set where master-(string replace -ra '[^A-Za-z0-9._-]' _ -- $address)
    else if test -n "$__PROGRAM_context"
        set where context-$__PROGRAM_context
    end
    set -l folder "$XDG_CACHE_HOME"
    if not string match -q '/*' -- $folder
        set folder $HOME/.cache
    end
    for kind in $argv
        set -l file $folder/mesosctl/names/$where/$kind
        if test $kind = context
            set file $folder/mesosctl/names/context
        end
        set -l lines
        if test -r $file
            while read -l name
                set -a lines $name
            end <$file
        end
        if string match -qr '^[0-9]{1,12}$' -- "$lines[1]"; and test $lines[1] -ge (date +%s)
            printf '%s\n' $lines[2..-1]
        else
            command PROGRAM complete $kind $__PROGRAM_along </dev/null 2>/dev/null
        end
    end
end
